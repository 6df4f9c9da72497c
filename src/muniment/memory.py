"""The facade: wires the rooms together and holds no logic of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, TextIO

from muniment.assembly import deletion, exchange, reading, reviewing
from muniment.clock import Clock, SystemClock
from muniment.ports.models import Screener
from muniment.records import JSONValue
from muniment.results import Health
from muniment.rules.arguments import checked, checks_arguments, refuse_negative
from muniment.scope import Principal, Scope
from muniment.scoped import Progress, ReviewDesk, ScopedMemory, Services
from muniment.scoped.forgetting import StoreForgetting
from muniment.scoped.guarding import StoreGuarding
from muniment.scoped.merging import StoreMerging

if TYPE_CHECKING:
    from muniment.ports import Embedder, LanguageModel, Reranker, Resolver, Store
    from muniment.rules.kinds import Policy
    from muniment.storage import Postgres, Shards
    from muniment.transfers import ExportReport, ImportReport

DEFAULT_CACHE_BYTES = 256 * 1024 * 1024


@checked
def open(  # noqa: A001 - `muniment.open` reads as what it does
    location: str | Path | Postgres | Shards,
    *,
    embedder: object = "auto",
    reranker: object = None,
    resolver: Callable[[str], JSONValue] | None = None,
    model: object = None,
    policy: str | Path | None = None,
    clock: Clock | None = None,
    screener: Screener | None = None,
    count_tokens: Callable[[str], int] | None = None,
    cache_bytes: int = DEFAULT_CACHE_BYTES,
    busy_timeout: float = 30.0,
    create: bool = True,
    sealed: bool | None = None,
    key: object = None,
    file_key: str | None = None,
) -> Memory:
    """Open a memory.

    Args:
        location: A file path, `sqlite:///path`, `:memory:`, `postgresql://user@host/database`, or
            a `muniment.storage.Postgres`; `Shards`, or a TOML file of several servers.
        embedder: `"auto"` (the built-in model when `muniment[local]` is installed, else none),
            `"local"`, `"none"`, `"openai:MODEL"`, `"azure:DEPLOYMENT"`, an object with
            `embed_passages` and `embed_query`, one with `encode`, or a callable from texts to
            vectors.
        reranker: What reads the best records of a recall beside the question and orders them
            anew: `"http:MODEL"`, `"tei"`, `"cross-encoder:MODEL"`, an object with `rerank` or
            `predict`, a callable from a question and texts to numbers, or None.
        resolver: What asks a system of record: a function from a record's `reference` to the live
            value, or None when there is none. Recall shows it beside what is stored.
        model: The language model for `answer`: `"openai:MODEL"`, `"chat:MODEL"`,
            `"azure:DEPLOYMENT"`, an object with `respond`, or None.
        policy: The kinds: TOML text or the path of a TOML file. None for the built-in policy.
        clock: Source of the present instant; for tests.
        screener: Looks at every text before it is stored. None for the built-in one.
        count_tokens: Counts a text's tokens for budgets. None for a cautious estimate.
        cache_bytes: Most memory for the searchable form of hot scopes.
        busy_timeout: Seconds to wait for another process's write to finish.
        create: Whether to make the file when it does not exist; never one in PostgreSQL.
        sealed: Whether everything is sealed, with a key a scope, before the database sees it; None
            for what the store says of itself, and not for a new one.
        key: What guards the store: `"file:PATH"`, `"env:NAME"` (base64), `"keyring:SERVICE/NAME"`,
            32 bytes, or an object with `wrap` and `unwrap` (a KMS; for a sealed store). None for
            the file NAME.key beside the database, which is made with it.
        file_key: Passphrase with which SQLite encrypts the whole file, besides or instead of
            sealing. None for none.

    Raises:
        InvalidInputError: An argument is not one of those above.
        KeyMissingError: The store's key is not where it should be.
        WrongKeyError: The key is another one.
        UnsafeRoleError: Row-level security would not hold for the role that connects.
        MissingExtraError: An extra is needed that is not installed. Names it.
        StoreError: The file cannot be opened, is foreign, damaged or too new.
    """
    from muniment.providers.counting import open_counter
    from muniment.providers.embedding import open_embedder
    from muniment.providers.keys import open_key
    from muniment.providers.llm import open_model
    from muniment.providers.policies import open_policy
    from muniment.providers.reranking import open_reranker
    from muniment.providers.resolving import open_resolver
    from muniment.rules.screening import DefaultScreener
    from muniment.storage import open_store

    refuse_negative(cache_bytes=cache_bytes, busy_timeout=busy_timeout)
    parts = (
        open_embedder(embedder),
        open_model(model),
        open_policy(policy),
        open_reranker(reranker),
    )
    store = open_store(
        location,
        busy_timeout=busy_timeout,
        create=create,
        sealed=sealed,
        master=open_key(key),
        file_key=file_key,
    )
    return Memory(
        store,
        embedder=parts[0],
        reranker=parts[3],
        resolver=open_resolver(resolver),
        model=parts[1],
        policy=parts[2],
        clock=clock or SystemClock(),
        screener=screener or DefaultScreener(),
        count_tokens=open_counter(count_tokens),
        cache_bytes=cache_bytes,
    )


@checks_arguments
class Memory(StoreForgetting, StoreGuarding, StoreMerging):
    """A store of many scopes' memory. Use `open` to make one and `scoped` to work with it.

    Safe to use from several threads. It is a context manager that closes itself.
    """

    def __init__(
        self,
        store: Store,
        *,
        embedder: Embedder | None,
        reranker: Reranker | None,
        resolver: Resolver | None,
        model: LanguageModel | None,
        policy: Policy,
        clock: Clock,
        screener: Screener,
        count_tokens: Callable[[str], int],
        cache_bytes: int,
    ) -> None:
        from muniment.services.gate import Gate
        from muniment.services.guarding import Guarding
        from muniment.services.recall import Recalling
        from muniment.services.segments import Segments
        from muniment.services.threads.shelves import ThreadServices
        from muniment.services.words import WordKeys
        from muniment.services.writes import Writes

        words, segments = WordKeys(store.keys), Segments(cache_bytes)
        gate = Gate(
            store, policy=policy, clock=clock, embedder=embedder, screener=screener, words=words
        )
        self._store, self._policy, self._guarding = store, policy, Guarding(store)
        self._usage, merging, desk = reviewing(gate, words, segments)
        self._maintenance, forgetting, sweeping, self._keep_up = deletion(gate, self._usage)
        reads, answering, judging = reading(gate, model, self._usage)
        self._services = Services(
            writes=Writes(gate),
            reads=reads,
            reviewing=desk,
            recalling=Recalling(
                store,
                policy=policy,
                clock=clock,
                embedder=embedder,
                reranker=reranker,
                resolver=resolver,
                words=words,
                segments=segments,
                count_tokens=count_tokens,
                usage=self._usage,
            ),
            answering=answering,
            forgetting=forgetting,
            exchange=exchange(gate, desk),
            threads=ThreadServices(gate, forgetting, model),
            merging=merging,
            sweeping=sweeping,
            judging=judging,
        )

    @property
    def policy(self) -> Policy:
        """The kinds in force."""
        return self._policy

    def scoped(self, *, tenant_id: str, user_id: str, agent_id: str) -> ScopedMemory:
        """Return the memory of one complete scope: the only object that reads and writes records.

        Args:
            tenant_id: The customer or organisation, from verified context.
            user_id: The person, from verified context.
            agent_id: The agent that remembers.

        Raises:
            ScopeError: A part is missing, blank, `*` or not a string.
        """
        return ScopedMemory(self._services, Scope(tenant_id, user_id, agent_id))

    def reviewing(self, principal: Principal) -> ReviewDesk:
        """Return the desk at which a reviewer decides about candidates within its reach.

        Args:
            principal: Who reviews, as proven by credentials.

        Raises:
            ForbiddenError: The principal is not a reviewer.
        """
        return ReviewDesk(self._services, principal)

    def export_user(
        self,
        target: Path | TextIO,
        *,
        tenant_id: str,
        user_id: str,
        progress: Progress | None = None,
    ) -> ExportReport:
        """Write everything about one user, over all agents, as JSON Lines; docs/export.md says how.

        Holds every scope of the user and the space that the user's agents share, as `export` does
        for one scope. What the user proposed for other spaces is not about the user.

        Args:
            target: A path, replaced at the end if all went well, or a text open for writing.
            tenant_id: The customer or organisation.
            user_id: The person.
            progress: Called with how many lines are written and how many there will be.

        Raises:
            ScopeError: A part is missing, blank, `*` or not a string.
            InvalidInputError: The target cannot be written to.
            StoreError: The database failed.
        """
        exporting = self._services.exchange.exporting
        return exporting.user(tenant_id, user_id, target, progress)

    def import_user(
        self,
        source: Path | TextIO,
        *,
        tenant_id: str,
        user_id: str,
        mode: str = "all_or_nothing",
        trust: str = "reviewed",
        progress: Progress | None = None,
    ) -> ImportReport:
        """Take in an export of one user, each scope to where it came from, in one transaction.

        Args:
            source: The file's path, or a text open for reading.
            tenant_id: The customer or organisation.
            user_id: The person. A file that holds another person's data is refused.
            mode: `"all_or_nothing"`, or `"skip"` to leave out what cannot be taken in.
            trust: `"reviewed"`: what nobody confirmed waits for review; `"operator"`: it does not.
            progress: Called with how many statements are embedded and how many there are.

        Raises:
            ImportFileError: A line is malformed; nothing was written.
            ForbiddenError: The file holds another user's data.
            BatchError: A line cannot be taken in; nothing was written.
            StoreError: The database failed; nothing was written.
        """
        restoring = self._services.exchange.restoring
        return restoring.user(tenant_id, user_id, source, mode=mode, trust=trust, progress=progress)

    def import_from(
        self,
        origin: str,
        source: Path | TextIO,
        *,
        tenant_id: str,
        agent_id: str | None = None,
        mode: str = "all_or_nothing",
        approved_by_operator: bool = False,
        kind: str | None = None,
        assume_utc: bool = False,
        progress: Progress | None = None,
    ) -> ImportReport:
        """Take in what another system keeps of every user of a tenant, in one transaction.

        As `ScopedMemory.import_from`, for origins whose items say whose they are.

        Args:
            origin: `"durable_memory"`, `"memories"`, `"documents"`, `"mem0"` or `"pam"`.
            source: The file's path, or a text open for reading. It is not changed.
            tenant_id: The tenant. Items that name another one are left out.
            agent_id: The agent, for items that name none.
            mode: `"all_or_nothing"`, or `"skip"` to leave out what cannot be taken in.
            approved_by_operator: Whether what was only inferred becomes records at once.
            kind: The kind of items that name none. None for `verified_fact`.
            assume_utc: Whether times without an offset are UTC.
            progress: Called with how many statements are embedded and how many there are.

        Raises:
            InvalidInputError: The source cannot be read, or an argument is unknown.
            BatchError: An item cannot be taken in; nothing was written.
            StoreError: A database failed; nothing was written.
        """
        from muniment.services.exchange.migrate import Wishes

        wishes = Wishes(mode, approved_by_operator, kind, (), assume_utc, progress)
        return self._services.exchange.migrating.tenant(
            origin, source, wishes, tenant_id=tenant_id, agent_id=agent_id
        )

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

    def close(self) -> None:
        """Release every file and connection. Closing twice is allowed."""
        self._usage.try_flush()
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
