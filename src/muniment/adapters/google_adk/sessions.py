"""ADK's session service: a session is a thread of its user's scope."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar, cast

from muniment.adapters.bridge import AnyMemory, has_event, in_scope, missing
from muniment.clock import new_id
from muniment.errors import InvalidInputError, NotFoundError, VersionConflictError
from muniment.records import JSONValue
from muniment.scope import Scope
from muniment.scoped import ScopedMemory
from muniment.scoped.thread import Thread
from muniment.threads import Event as Kept
from muniment.threads import ThreadInfo

try:
    from google.adk.errors import StaleSessionError
    from google.adk.errors.already_exists_error import AlreadyExistsError
    from google.adk.errors.session_not_found_error import SessionNotFoundError
    from google.adk.events.event import Event
    from google.adk.sessions.base_session_service import (
        BaseSessionService,
        GetSessionConfig,
        ListSessionsResponse,
    )
    from google.adk.sessions.session import Session
    from google.adk.sessions.state import State
    from pydantic_core import to_jsonable_python
except ImportError as error:
    raise missing("google-adk", "adk") from error

SESSION = "adk-session"
STATE = "adk-state"
APP_USER = "app:"
MOST_SESSIONS = 10_000
_TRIES = 20
T = TypeVar("T")
Json = dict[str, JSONValue]


class MunimentSessionService(BaseSessionService):
    """Sessions of ADK as threads, each in the scope of its user and app.

    State with the prefix `user:` is shared by a user's sessions, with `app:` by all sessions of an
    app; `temp:` is never kept. An append to a session that somebody else changed meanwhile raises
    `StaleSessionError`.

    Args:
        memory: The memory, sync or async. It is not closed by the service.
        tenant_id: The customer or organisation of everybody who uses the runner.
    """

    def __init__(self, memory: AnyMemory, *, tenant_id: str) -> None:
        self._memory = memory
        self._tenant_id = tenant_id

    async def create_session(
        self,
        *,
        app_name: str,
        user_id: str,
        state: dict[str, Any] | None = None,
        session_id: str | None = None,
    ) -> Session:
        """Begin a session.

        Args:
            app_name: The app.
            user_id: The person.
            state: Its first state.
            session_id: Its id; None or blank for a new one.

        Raises:
            AlreadyExistsError: The user has a session of this id.
        """
        name = (session_id or "").strip() or new_id("ses")
        given = _split(_plain(state or {}))
        mark = new_id("mrk")

        def work(scoped: ScopedMemory) -> ThreadInfo:
            thread = scoped.thread(name, type=SESSION)
            info = thread.create(state={"state": given[""], "mark": mark}, anew=True)
            if info.state.get("mark") != mark:
                raise AlreadyExistsError(f"Session with id {name} already exists.")
            _merge(_shared(scoped), given[State.USER_PREFIX])
            return info

        info = await self._in_user(app_name, user_id, work)
        await self._in_app(
            app_name, lambda scoped: _merge(_shared(scoped), given[State.APP_PREFIX])
        )
        return await self._session(app_name, user_id, info, ())

    async def get_session(
        self,
        *,
        app_name: str,
        user_id: str,
        session_id: str,
        config: GetSessionConfig | None = None,
    ) -> Session | None:
        """Return a session with its events; None when this user has none of this id.

        Args:
            app_name: The app.
            user_id: The person.
            session_id: The session.
            config: Which events to load; None for all.
        """
        most = None if config is None else config.num_recent_events
        since = None if config is None else config.after_timestamp
        name = session_id.strip()
        if not name:
            return None

        def work(scoped: ScopedMemory) -> tuple[ThreadInfo, tuple[Kept, ...]] | None:
            thread = scoped.thread(name, type=SESSION)
            info = thread.info()
            if info is None:
                return None
            return info, thread.latest(None)

        found = await self._in_user(app_name, user_id, work)
        if found is None:
            return None
        session = await self._session(app_name, user_id, *found)
        if since is not None:
            session.events = [event for event in session.events if event.timestamp >= since]
        if most is not None:
            session.events = session.events[len(session.events) - most :] if most else []
        return session

    async def list_sessions(
        self, *, app_name: str, user_id: str | None = None
    ) -> ListSessionsResponse:
        """Return a user's sessions without events and state, the one updated last at the end.

        Args:
            app_name: The app.
            user_id: The person. There is no list over all users: a scope reads its own only.

        Raises:
            InvalidInputError: No user is named.
        """
        if user_id is None:
            raise InvalidInputError("user_id is required: sessions are listed for one user.")
        infos = await self._in_user(
            app_name, user_id, lambda scoped: scoped.threads(type=SESSION, limit=MOST_SESSIONS)
        )
        ordered = sorted(infos, key=lambda info: (info.changed_at, info.thread_id))
        return ListSessionsResponse(
            sessions=[
                Session(
                    id=info.thread_id,
                    app_name=app_name,
                    user_id=user_id,
                    last_update_time=info.changed_at.timestamp(),
                )
                for info in ordered
            ]
        )

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """Delete a session with a receipt; one that is not there is left alone.

        Args:
            app_name: The app.
            user_id: The person.
            session_id: The session.
        """

        def work(scoped: ScopedMemory) -> None:
            with suppress(NotFoundError):
                scoped.forget_thread(session_id.strip(), type=SESSION)

        if session_id.strip():
            await self._in_user(app_name, user_id, work)

    async def get_user_state(self, *, app_name: str, user_id: str) -> dict[str, Any]:
        """Return the state that a user's sessions share, without the prefix.

        Args:
            app_name: The app.
            user_id: The person.
        """
        return await self._in_user(app_name, user_id, lambda scoped: _read(_shared(scoped)))

    async def append_event(self, session: Session, event: Event) -> Event:
        """Append an event to a session, in the store and in the object.

        Args:
            session: The session, as it was loaded.
            event: The event. A partial one is not kept; the same one again changes nothing.

        Raises:
            SessionNotFoundError: There is no such session.
            StaleSessionError: The session was changed by somebody else since it was loaded.
        """
        if event.partial:
            return event
        self._apply_temp_state(session, event)
        event = self._trim_temp_delta_state(event)
        content = cast("Json", event.model_dump(mode="json", exclude_none=True))
        seen = session._storage_update_marker  # noqa: SLF001 - the SDK keeps it for back ends
        delta = _split(_plain(event.actions.state_delta))

        def work(scoped: ScopedMemory) -> int:
            thread = scoped.thread(session.id, type=SESSION)
            version = _append(thread, event.id, content, seen)
            _merge(_shared(scoped), delta[State.USER_PREFIX])
            return version

        version = await self._in_user(session.app_name, session.user_id, work)
        await self._in_app(
            session.app_name, lambda scoped: _merge(_shared(scoped), delta[State.APP_PREFIX])
        )
        if all(one.id != event.id for one in session.events):
            self._commit_event_to_session(session, event)
        session.last_update_time = event.timestamp
        session._storage_update_marker = str(version)  # noqa: SLF001 - as above
        return event

    async def _session(
        self, app_name: str, user_id: str, info: ThreadInfo, kept: Sequence[Kept]
    ) -> Session:
        events = [Event.model_validate(one.content) for one in kept]
        state = dict(cast("Mapping[str, Any]", info.state.get("state", {})))
        for event in events:
            state |= _split(event.actions.state_delta)[""]
        app = await self._in_app(app_name, lambda scoped: _read(_shared(scoped)))
        user = await self.get_user_state(app_name=app_name, user_id=user_id)
        state |= {f"{State.APP_PREFIX}{name}": value for name, value in app.items()}
        state |= {f"{State.USER_PREFIX}{name}": value for name, value in user.items()}
        session = Session(
            id=info.thread_id,
            app_name=app_name,
            user_id=user_id,
            state=state,
            events=events,
            last_update_time=events[-1].timestamp if events else info.created_at.timestamp(),
        )
        session._storage_update_marker = str(info.version)  # noqa: SLF001 - as above
        return session

    async def _in_user(self, app_name: str, user_id: str, work: Callable[[ScopedMemory], T]) -> T:
        if user_id == APP_USER:
            raise InvalidInputError(f"{APP_USER!r} is no user_id; it stands for the app's state.")
        return await in_scope(self._memory, Scope(self._tenant_id, user_id, app_name), work)

    async def _in_app(self, app_name: str, work: Callable[[ScopedMemory], T]) -> T:
        return await in_scope(self._memory, Scope(self._tenant_id, APP_USER, app_name), work)


def _append(thread: Thread, event_id: str, content: Json, seen: str | None) -> int:
    """Append an event to the session that was seen; return the version that it has then."""
    info = thread.info()
    if info is None:
        raise SessionNotFoundError(f"Session {thread.thread_id} not found.")
    if has_event(thread, event_id):
        return info.version if seen is None else int(seen)
    before = info.version if seen is None else int(seen)
    try:
        thread.append(content, event_id=event_id, expected_version=before)
    except VersionConflictError as late:
        raise StaleSessionError(
            f"Session {thread.thread_id} was changed since it was loaded; load it again."
        ) from late
    return before + 1


def _shared(scoped: ScopedMemory) -> Thread:
    return scoped.thread(STATE, type=STATE)


def _read(thread: Thread) -> dict[str, Any]:
    info = thread.info()
    return {} if info is None else dict(info.state)


def _merge(thread: Thread, delta: Mapping[str, JSONValue]) -> None:
    """Put names into a shared state; two writers of different names both stay."""
    if not delta:
        return
    for _ in range(_TRIES):
        info = thread.create()
        with suppress(VersionConflictError):
            thread.set_state({**info.state, **delta}, expected_version=info.version)
            return
    raise StaleSessionError("The shared state is changed by too many at a time; try again.")


def _plain(state: Mapping[str, Any]) -> Json:
    return cast("Json", to_jsonable_python(dict(state)))


def _split(state: Mapping[str, Any]) -> dict[str, Json]:
    """Return a state by prefix, names without it; what is temporary is left out."""
    found: dict[str, Json] = {State.APP_PREFIX: {}, State.USER_PREFIX: {}, "": {}}
    for name, value in state.items():
        prefix = next(
            (one for one in (State.APP_PREFIX, State.USER_PREFIX) if name.startswith(one)), ""
        )
        if not name.startswith(State.TEMP_PREFIX):
            found[prefix][name.removeprefix(prefix)] = value
    return found
