"""Derivatives checked on quadratics, where all is known, and on the tiny model against finite differences."""

import numpy as np
import pytest
import torch
from scipy.optimize import minimize
from torch import Tensor

from judgelab.evaluation.second_order import (
    error_correlation,
    excess_risk,
    merge_bias,
    noise_ratio,
    optimal_weight,
)
from judgelab.training.curvature import (
    LossParts,
    curvature_along,
    gradient,
    hessian_product,
    leading_direction,
    loss_at,
)

SIZE = 12


def symmetric(seed: int) -> Tensor:
    drawn = torch.randn(SIZE, SIZE, generator=torch.Generator().manual_seed(seed))
    return drawn @ drawn.T / SIZE + 0.1 * torch.eye(SIZE)


def quadratic(hessian: Tensor, optimum: Tensor) -> LossParts:
    """½(x − x*)ᵀH(x − x*) in two parts."""

    def part(share: float):  # type: ignore[no-untyped-def]
        return lambda point: share * 0.5 * (point - optimum) @ hessian @ (point - optimum)

    return [part(0.3), part(0.7)]


@pytest.fixture
def optima() -> tuple[Tensor, Tensor]:
    drawn = torch.Generator().manual_seed(1)
    return torch.randn(SIZE, generator=drawn), torch.randn(SIZE, generator=drawn)


def joint(weight: float, pointwise: LossParts, pairwise: LossParts) -> np.ndarray:
    """What training on both at once ends in: the minimum of the mixture, found by scipy."""

    def value(x: np.ndarray) -> float:
        point = torch.from_numpy(x).float()
        return weight * loss_at(pointwise, point) + (1 - weight) * loss_at(pairwise, point)

    def slope(x: np.ndarray) -> np.ndarray:
        point = torch.from_numpy(x).float()
        return (weight * gradient(pointwise, point) + (1 - weight) * gradient(pairwise, point)).double().numpy()

    return minimize(value, np.zeros(SIZE), jac=slope, method="BFGS", options={"gtol": 1e-6}).x


@pytest.mark.parametrize("weight", [0.25, 0.5, 0.75])
def test_equal_curvature_makes_joint_training_the_merge(weight: float, optima: tuple[Tensor, Tensor]) -> None:
    hessian = symmetric(2)
    losses = [quadratic(hessian, optimum) for optimum in optima]
    merged = weight * optima[0] + (1 - weight) * optima[1]
    np.testing.assert_allclose(joint(weight, losses[0], losses[1]), merged.numpy(), atol=1e-3)


def test_unequal_curvature_makes_it_the_weighted_average_of_the_lemma(optima: tuple[Tensor, Tensor]) -> None:
    hessians, weight = (symmetric(2), symmetric(3)), 0.4
    losses = [quadratic(hessian, optimum) for hessian, optimum in zip(hessians, optima, strict=True)]
    mixed = weight * hessians[0] + (1 - weight) * hessians[1]
    pulled = weight * hessians[0] @ optima[0] + (1 - weight) * hessians[1] @ optima[1]
    found = joint(weight, losses[0], losses[1])
    np.testing.assert_allclose(found, torch.linalg.solve(mixed, pulled).numpy(), atol=1e-3)
    merged = weight * optima[0] + (1 - weight) * optima[1]
    assert np.linalg.norm(found - merged.numpy()) > 0.1


def test_products_gradients_and_bias_on_a_quadratic_are_those_of_its_matrix(optima: tuple[Tensor, Tensor]) -> None:
    hessian, (pointwise, pairwise) = symmetric(2), optima
    loss, gap = quadratic(hessian, pointwise), pairwise - pointwise
    torch.testing.assert_close(hessian_product(loss, pairwise, gap), hessian @ gap, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(gradient(loss, pairwise), hessian @ gap, rtol=1e-5, atol=1e-5)
    separation = float(gap @ hessian_product(loss, pointwise, gap))
    for weight in (0.0, 0.25, 0.75):
        measured = loss_at(loss, pointwise + (1 - weight) * gap) - loss_at(loss, pointwise)
        assert merge_bias(separation, weight) == pytest.approx(measured, rel=1e-4)


def test_the_leading_direction_is_the_largest_eigenvector(optima: tuple[Tensor, Tensor]) -> None:
    hessian = symmetric(4)
    values, vectors = torch.linalg.eigh(hessian)
    value, direction = leading_direction(quadratic(hessian, optima[0]), optima[1], optima[1], 1e-4)
    assert value == pytest.approx(float(values[-1]), rel=1e-3)
    assert abs(float(direction @ vectors[:, -1])) == pytest.approx(1, abs=1e-2)
    assert curvature_along(quadratic(hessian, optima[0]), optima[1], direction) == pytest.approx(value, rel=1e-3)


def test_the_optimal_weight_is_that_of_a_grid_search() -> None:
    ratio = noise_ratio(0.5, 0.2, 1.0)
    assert ratio == pytest.approx(0.4)
    assert optimal_weight(ratio) == pytest.approx(0.7778, abs=1e-4)
    grid = np.linspace(0, 1, 10_001)
    for separation, variance, correlation in ((1.0, 0.5, 0.2), (0.1, 2.0, 0.0), (3.0, 0.2, 0.9)):
        best = grid[np.argmin([excess_risk(weight, separation, variance, correlation) for weight in grid])]
        assert optimal_weight(noise_ratio(variance, correlation, separation)) == pytest.approx(best, abs=1e-4)
    assert noise_ratio(1.0, 0.0, -1.0) is None
    assert optimal_weight(None) is None


def test_the_error_correlation_is_that_of_the_deviations() -> None:
    random = np.random.default_rng(5)
    shared = random.normal(size=(4, 500))
    errors = [shared + 0.5 * random.normal(size=(4, 500)) for _ in range(2)]
    first, second = (each + random.normal(size=500) for each in errors)
    found = error_correlation(first @ first.T, second @ second.T, first @ second.T)
    deviations = [(each - each.mean(axis=0)).ravel() for each in (first, second)]
    assert found == pytest.approx(np.corrcoef(*deviations)[0, 1], abs=1e-3)
    assert error_correlation(first[:1] @ first[:1].T, first[:1] @ first[:1].T, first[:1] @ first[:1].T) is None
