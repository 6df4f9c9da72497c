"""What a model sees of the tools: names, descriptions and JSON schemas, and the check of a call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from muniment.errors import InvalidInputError
from muniment.records import JSONValue
from muniment.scoped.delegate import Writes

LONGEST_KEY = 200
LONGEST_VALUE = 4_000
LONGEST_QUERY = 2_000
LONGEST_CURSOR = 500
MOST_FACTS = 50
MOST_HITS = 20


class ToolName(StrEnum):
    """The tools."""

    REMEMBER = "remember_fact"
    RECALL = "recall_fact"
    LIST = "list_facts"
    FORGET = "forget_fact"
    SEARCH = "search_memory"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a tool: a text or a whole number between two sizes.

    Attributes:
        name: Its name.
        type: `string` or `integer`.
        description: What it is for, in one sentence.
        most: Longest text, or greatest number; the least is 1.
        is_required: Whether a call must have it.
    """

    name: str
    type: str
    description: str
    most: int
    is_required: bool = True

    def schema(self) -> dict[str, JSONValue]:
        """Return its JSON schema."""
        least, most = ("minLength", "maxLength")
        if self.type == "integer":
            least, most = ("minimum", "maximum")
        return {"type": self.type, "description": self.description, least: 1, most: self.most}

    def check(self, value: object) -> str | int:
        """Return an argument as it is, or say what is wrong with it; never what it says.

        Raises:
            InvalidInputError: It is of another type or size.
        """
        if self.type == "integer" and type(value) is int and 1 <= value <= self.most:
            return value
        if self.type == "string" and isinstance(value, str) and len(value) <= self.most:
            if value.strip():
                return value
            raise InvalidInputError(f"{self.name} must not be blank.")
        what = "a text of at most" if self.type == "string" else "a whole number from 1 to"
        raise InvalidInputError(f"{self.name} must be {what} {self.most}.")


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool as a model sees it.

    Attributes:
        name: Its name.
        description: What it does and when to call it.
        parameters: What a call may name; nothing else.
        is_read_only: Whether it changes nothing.
        is_destructive: Whether it deletes.
    """

    name: ToolName
    description: str
    parameters: tuple[Parameter, ...] = ()
    is_read_only: bool = True
    is_destructive: bool = False

    @property
    def input_schema(self) -> dict[str, JSONValue]:
        """The JSON schema of its arguments; it admits no others."""
        return {
            "type": "object",
            "properties": {one.name: one.schema() for one in self.parameters},
            "required": [one.name for one in self.parameters if one.is_required],
            "additionalProperties": False,
        }

    def to_dict(self) -> dict[str, JSONValue]:
        """Return name, description and input_schema, as most model APIs want them."""
        return {
            "name": self.name.value,
            "description": self.description,
            "input_schema": self.input_schema,
        }

    def check(self, arguments: object) -> dict[str, str | int]:
        """Return the arguments of a call without those that are null, if they are as they must be.

        Raises:
            InvalidInputError: An argument is missing, unknown or malformed. Names the parameters
                that there are, never what the call said.
        """
        if not isinstance(arguments, Mapping):
            raise InvalidInputError(f"The arguments of {self.name} must be a JSON object.")
        known = {one.name: one for one in self.parameters}
        if not set(arguments) <= set(known):
            admitted = ", ".join(known) or "none"
            raise InvalidInputError(
                f"{self.name} was called with an argument that it does not have. It has: "
                f"{admitted}. Whose memory it is, is not an argument."
            )
        given = {name: value for name, value in arguments.items() if value is not None}
        missing = [one.name for one in self.parameters if one.is_required and one.name not in given]
        if missing:
            raise InvalidInputError(f"{self.name} needs {', '.join(missing)}.")
        return {name: known[name].check(value) for name, value in given.items()}


_KEY = Parameter("key", "string", 'Short name of the fact, such as "grocery budget".', LONGEST_KEY)
_VALUE = Parameter("value", "string", "The fact itself, in the user's words.", LONGEST_VALUE)
_QUERY = Parameter("query", "string", "What to look for, in plain words.", LONGEST_QUERY)
_CURSOR = Parameter(
    "cursor", "string", "The cursor of the page before; none for the first.", LONGEST_CURSOR, False
)
_REMEMBERING = {
    "propose": "Propose an important fact about the user for long-term memory. It is kept once the "
    "user or a reviewer approves it; until then it cannot be recalled.",
    "explicit": "Save or update an important fact about the user in long-term memory. Call it when "
    "the user asks you to remember something, before you say that it is saved.",
}


def definitions(writes: Writes) -> tuple[Tool, ...]:
    """Return the five tools as a model sees them.

    Args:
        writes: What the application granted; it changes what the tools say of themselves.
    """
    return (
        Tool(ToolName.REMEMBER, _REMEMBERING[writes], (_KEY, _VALUE), is_read_only=False),
        Tool(
            ToolName.RECALL,
            "Return one saved fact about the user by its key. Call it when the user asks about "
            "something saved earlier.",
            (_KEY,),
        ),
        Tool(
            ToolName.LIST,
            "List the saved facts about the user, newest first.",
            (_limit(MOST_FACTS), _CURSOR),
        ),
        Tool(
            ToolName.FORGET,
            "Delete one saved fact about the user by its key, for good. Call it only when the user "
            "asks you to forget something.",
            (_KEY,),
            is_read_only=False,
            is_destructive=True,
        ),
        Tool(
            ToolName.SEARCH,
            "Search long-term memory for records that bear on a question, best first.",
            (_QUERY, _limit(MOST_HITS)),
        ),
    )


def _limit(most: int) -> Parameter:
    return Parameter("limit", "integer", f"Most to return, 1 to {most}.", most, False)
