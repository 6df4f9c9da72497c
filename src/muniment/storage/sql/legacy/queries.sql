-- Every statement that reads a database of another system. Nothing here writes.

-- name: tables
-- The names of the tables that a database holds.
SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name;

-- name: durable_memory_v2
-- The rows of the durable memory with scoped source_ids, in the order they were written.
SELECT * FROM durable_memory_v2 ORDER BY rowid;

-- name: durable_memory
-- The rows of the older durable memory, in the order they were written.
SELECT * FROM durable_memory ORDER BY rowid;

-- name: memories
-- The facts of users by key.
SELECT user_id, key, value FROM memories ORDER BY rowid;

-- name: store
-- The items of a LangGraph store.
SELECT * FROM store ORDER BY prefix, key;
