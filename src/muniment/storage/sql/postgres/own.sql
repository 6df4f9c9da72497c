-- Tables that only PostgreSQL has, where many transactions write at once.

CREATE TABLE tenants (
    tenant_id TEXT COLLATE "C" NOT NULL,
    last_owner BIGINT NOT NULL,
    PRIMARY KEY (tenant_id)
);

CREATE TABLE schema_version (
    one BIGINT PRIMARY KEY CHECK (one = 1),
    version BIGINT NOT NULL,
    oldest_reader BIGINT NOT NULL
);
