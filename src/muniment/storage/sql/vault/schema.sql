-- The key store of a sealed database: outside it and outside its backups. Holds wrapped keys only.

CREATE TABLE IF NOT EXISTS vault (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    wrapped BLOB NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS data_keys (
    tenant_id TEXT NOT NULL,
    owner_no INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    incarnation BLOB NOT NULL,
    wrapped BLOB,
    replaced INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, owner_no, generation)
) STRICT, WITHOUT ROWID;
