"""Google ADK: tools, a memory service whose deletion works, and sessions kept as threads.

::

    runner = Runner(
        app_name="calculator",
        agent=Agent(
            name="calculator",
            model=…,
            instruction=memory_rules(writes="explicit"),
            tools=[*memory_tools(memory, tenant_id="acme", writes="explicit"), preload_memory],
        ),
        session_service=MunimentSessionService(memory, tenant_id="acme"),
        memory_service=MunimentMemoryService(memory, tenant_id="acme"),
    )

ADK knows an app and a user and no tenant: the tenant is bound here. The user is ADK's `user_id`,
the agent of the scope its `app_name`; they are compared part by part, so no slash makes two of them
one.
Made for google-adk 2.
"""

from __future__ import annotations

from muniment.adapters.google_adk.memory import MunimentMemoryService
from muniment.adapters.google_adk.sessions import MunimentSessionService
from muniment.adapters.google_adk.tools import memory_tools

__all__ = ["MunimentMemoryService", "MunimentSessionService", "memory_tools"]
