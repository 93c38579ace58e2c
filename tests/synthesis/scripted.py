"""Models that answer by a script, behind the same question and answer as a real role."""

from collections.abc import Callable, Sequence

from judgelab.engines.base import Reply
from judgelab.synthesis.roles import Question

Script = Callable[[str, int], str]


class Scripted:
    """Answers by a function of the prompt's text and the number of the draw, and remembers what it was asked."""

    def __init__(self, script: Script, truncated: bool = False) -> None:
        self.script, self.truncated = script, truncated
        self.asked: list[tuple[str, int]] = []

    def ask(self, questions: Sequence[Question]) -> list[Reply]:
        replies = []
        for question in questions:
            prompt = "".join(segment.text for segment in question.prompt)
            self.asked.append((prompt, question.repeat))
            text = self.script(prompt, question.repeat)
            replies.append(Reply(str(len(self.asked)), text, self.truncated, len(text)))
        return replies
