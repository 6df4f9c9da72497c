"""The facade: wires the rooms together and holds no logic of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self

from muniment.clock import Clock, SystemClock
from muniment.results import Health
from muniment.scope import Principal, Scope, Space
from muniment.scoped import Progress, ReviewDesk, ScopedMemory, Services

if TYPE_CHECKING:
    from pathlib import Path

    from muniment.ports import Embedder, LanguageModel, Screener, Store
    from muniment.rules.kinds import Policy

DEFAULT_CACHE_BYTES = 256 * 1024 * 1024


def open(  # noqa: A001 - `muniment.open` reads as what it does
    location: str | Path,
    *,
    embedder: object = "auto",
    model: object = None,
    policy: str | Path | None = None,
    clock: Clock | None = None,
    screener: Screener | None = None,
    count_tokens: Callable[[str], int] | None = None,
    cache_bytes: int = DEFAULT_CACHE_BYTES,
    busy_timeout: float = 30.0,
    create: bool = True,
) -> Memory:
    """Open a memory.

    Args:
        location: A file path, `sqlite:///path`, or `:memory:`.
        embedder: `"auto"` (the built-in model when `muniment[local]` is installed, else none),
            `"local"`, `"none"`, `"openai:MODEL"`, `"azure:DEPLOYMENT"`, an object with
            `embed_passages` and `embed_query`, one with `encode`, or a callable from texts to
            vectors.
        model: The language model for `answer`: `"openai:MODEL"`, `"chat:MODEL"`,
            `"azure:DEPLOYMENT"`, an object with `respond`, or None.
        policy: The kinds: TOML text or the path of a TOML file. None for the built-in policy.
        clock: Source of the present instant; for tests.
        screener: Looks at every text before it is stored. None for the built-in one.
        count_tokens: Counts a text's tokens for budgets. None for a cautious estimate.
        cache_bytes: Most memory for the searchable form of hot scopes.
        busy_timeout: Seconds to wait for another process's write to finish.
        create: Whether to make the file when it does not exist.

    Raises:
        InvalidInputError: An argument is not one of those above.
        MissingExtraError: An extra is needed that is not installed. Names it.
        StoreError: The file cannot be opened, is foreign, damaged or too new.
    """
    from muniment.providers.embedding import open_embedder
    from muniment.providers.llm import open_model
    from muniment.rules.packet import count_tokens as estimate
    from muniment.rules.screening import CharacterScreener
    from muniment.storage import open_store

    return Memory(
        open_store(location, busy_timeout=busy_timeout, create=create),
        embedder=open_embedder(embedder),
        model=open_model(model),
        policy=_load_policy(policy),
        clock=clock or SystemClock(),
        screener=screener or CharacterScreener(),
        count_tokens=count_tokens or estimate,
        cache_bytes=cache_bytes,
    )


def _load_policy(policy: str | Path | None) -> Policy:
    from importlib.resources import files
    from pathlib import Path

    from muniment.rules.kinds import parse_policy

    if policy is None:
        builtin = files("muniment.rules").joinpath("policy.toml")
        return parse_policy(builtin.read_text(encoding="utf-8"))
    if isinstance(policy, Path):
        return parse_policy(policy.read_text(encoding="utf-8"))
    return parse_policy(policy)


class Memory:
    """A store of many scopes' memory. Use `open` to make one and `scoped` to work with it.

    Safe to use from several threads. It is a context manager that closes itself.
    """

    def __init__(
        self,
        store: Store,
        *,
        embedder: Embedder | None,
        model: LanguageModel | None,
        policy: Policy,
        clock: Clock,
        screener: Screener,
        count_tokens: Callable[[str], int],
        cache_bytes: int,
    ) -> None:
        from muniment.services.answer import Answering
        from muniment.services.forget import Forgetting
        from muniment.services.gate import Gate
        from muniment.services.likeness import Likeness
        from muniment.services.maintain import Maintenance
        from muniment.services.reads import Reads
        from muniment.services.recall import Recalling
        from muniment.services.review import Reviewing
        from muniment.services.segments import Segments
        from muniment.services.words import WordKeys
        from muniment.services.writes import Writes

        words = WordKeys(store.keys)
        segments = Segments(cache_bytes)
        gate = Gate(
            store, policy=policy, clock=clock, embedder=embedder, screener=screener, words=words
        )
        self._store = store
        self._policy = policy
        self._maintenance = Maintenance(store, embedder=embedder, clock=clock, policy=policy)
        self._services = Services(
            writes=Writes(gate),
            reads=Reads(store, policy=policy, clock=clock),
            reviewing=Reviewing(
                gate, Likeness(store, embedder=embedder, words=words, segments=segments)
            ),
            recalling=Recalling(
                store,
                policy=policy,
                clock=clock,
                embedder=embedder,
                words=words,
                segments=segments,
                count_tokens=count_tokens,
            ),
            answering=Answering(store, clock=clock, model=model),
            forgetting=Forgetting(gate),
        )

    @property
    def policy(self) -> Policy:
        """The kinds in force."""
        return self._policy

    def scoped(
        self, *, tenant_id: str, user_id: str, agent_id: str, spaces: Sequence[Space] = ()
    ) -> ScopedMemory:
        """Return the memory of one complete scope: the only object that reads and writes records.

        Args:
            tenant_id: The customer or organisation, from verified context.
            user_id: The person, from verified context.
            agent_id: The agent that remembers.
            spaces: The shared spaces that it may read, from verified claims.

        Raises:
            ScopeError: A part is missing, blank, `*` or not a string, or a space is another
                tenant's.
        """
        return ScopedMemory(self._services, Scope(tenant_id, user_id, agent_id), tuple(spaces))

    def reviewing(self, principal: Principal) -> ReviewDesk:
        """Return the desk at which a reviewer decides about candidates within its reach.

        Args:
            principal: Who reviews, as proven by credentials.

        Raises:
            ForbiddenError: The principal is not a reviewer.
        """
        return ReviewDesk(self._services, principal)

    def health(self) -> Health:
        """Return facts about the store, its counts and the embedder; never any text."""
        return self._maintenance.health()

    def embed(self, *, progress: Progress | None = None) -> tuple[int, int]:
        """Embed every active record that has no vector of the present model.

        May be stopped and repeated; recall works meanwhile.

        Args:
            progress: Called with how many records were tried and how many there are.

        Returns:
            How many records were embedded, and how many still wait.

        Raises:
            InvalidInputError: No embedder is configured.
            ProviderError: The model cannot be loaded.
        """
        return self._maintenance.embed(progress)

    def compact(self) -> None:
        """Rewrite the database so that no deleted byte is left in it.

        Raises:
            StoreBusyError: A reader or writer is in the way; try again later.
        """
        self._maintenance.compact()

    def close(self) -> None:
        """Release every file and connection. Closing twice is allowed."""
        self._store.close()

    def __enter__(self) -> Self:
        """Return the memory itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the memory."""
        self.close()
