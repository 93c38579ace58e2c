"""Formulas as text: a small part of Python's expressions, evaluated without running code."""

import ast
import math
import operator
from collections.abc import Callable, Mapping
from functools import lru_cache

Value = float | str
BINARY: dict[type, Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: math.pow,  # real numbers only; an error where ** would give a complex one
}
COMPARE: dict[type, Callable[[Value, Value], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
}
FUNCTIONS: dict[str, Callable[..., float]] = {"sqrt": math.sqrt, "min": min, "max": max}


@lru_cache(maxsize=256)
def parsed(formula: str) -> ast.expr:
    """The syntax tree of a formula; SyntaxError where it is no expression."""
    return ast.parse(formula.strip(), mode="eval").body


def names(formula: str) -> list[str]:
    """The inputs that a formula mentions, each once, in order of appearance."""
    nodes = [node for node in ast.walk(parsed(formula)) if isinstance(node, ast.Name) and node.id not in FUNCTIONS]
    return list(dict.fromkeys(node.id for node in sorted(nodes, key=lambda node: node.col_offset)))


def evaluate(formula: str, values: Mapping[str, Value]) -> float:
    """The number that a formula gives; ArithmeticError where it is undefined, SyntaxError where it is no formula."""
    try:
        result = _value(parsed(formula), values)
    except ValueError as error:  # the square root of a negative number
        raise ArithmeticError(f"{formula}: {error}") from error
    if isinstance(result, str) or not math.isfinite(result):
        raise ArithmeticError(f"{formula}: {result!r} is no finite number")
    return result


def substituted(formula: str, values: Mapping[str, Value]) -> str:
    """The formula with its inputs replaced by their values and its conditions decided; Python can evaluate it."""
    return ast.unparse(_Substitution(values).visit(ast.parse(formula.strip(), mode="eval")))


def _value(node: ast.expr, values: Mapping[str, Value]) -> Value:
    match node:
        case ast.Constant(value=str() as text):
            return text
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return float(number)
        case ast.Name(id=name) if name in values:
            return values[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_number(operand, values)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in BINARY:
            return BINARY[type(op)](_number(left, values), _number(right, values))
        case ast.IfExp(test=ast.Compare(left=left, ops=[op], comparators=[right])) if type(op) in COMPARE:
            holds = COMPARE[type(op)](_value(left, values), _value(right, values))
            return _value(node.body if holds else node.orelse, values)
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in FUNCTIONS:
            return FUNCTIONS[name](*(_number(argument, values) for argument in arguments))
    raise SyntaxError(f"{ast.unparse(node)!r} has no place in a formula")


def _number(node: ast.expr, values: Mapping[str, Value]) -> float:
    value = _value(node, values)
    if isinstance(value, str):
        raise SyntaxError(f"{value!r} is text where a number is due")
    return value


class _Substitution(ast.NodeTransformer):
    def __init__(self, values: Mapping[str, Value]) -> None:
        self.values = values

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        chosen = ast.IfExp(node.test, ast.Constant(1), ast.Constant(0))
        return self.visit(node.body if _value(chosen, self.values) else node.orelse)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in self.values:
            return node
        value = self.values[node.id]
        if isinstance(value, str):
            return ast.Constant(value)
        number = ast.Constant(int(abs(value)) if value == int(value) else abs(value))
        return ast.UnaryOp(ast.USub(), number) if value < 0 else number
