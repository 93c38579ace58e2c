"""Multiple choice: the right option replaced by each wrong one."""

from dataclasses import dataclass

from judgelab.data.biomedical import ChoiceExample
from judgelab.synthesis.metrics import correctness
from judgelab.synthesis.mutation import Parameters, Response


@dataclass(frozen=True)
class OptionMutations:
    """One candidate per option, the right one first; parameters name the letter, and no draw is needed."""

    example: ChoiceExample
    operator = "wrong_option"

    @property
    def source_id(self) -> str:
        """The question's id."""
        return self.example.source.source_id

    @property
    def count(self) -> int:
        """As many as options."""
        return len(self.example.options)

    def draw(self, number: int, seed: int) -> Parameters:
        """The right letter for 0, then the wrong ones in the order of the question."""
        gold = self.example.gold
        return {"option": [gold, *(letter for letter in self.example.options if letter != gold)][number]}

    def respond(self, parameters: Parameters) -> Response:
        """The letter and the text of the option."""
        return Response(
            option_line(self.example, parameters["option"]), correctness(parameters["option"], self.example.gold)
        )


def option_line(example: ChoiceExample, letter: str) -> str:
    """An option as questions and responses show it."""
    return f"{letter}. {example.options[letter]}"
