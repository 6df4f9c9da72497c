-- Statements about which server a tenant lives on. The map's server knows all; each server knows its own.

-- name: shard
-- Which server of which map this is.
SELECT name, map FROM shard;

-- name: insert_shard
-- Say which server of which map this is, once.
INSERT INTO shard (one, name, map) VALUES (1, :name, :map) ON CONFLICT (one) DO NOTHING;

-- name: placement
-- Where a tenant lives, and where it is being moved to.
SELECT server, target FROM placements WHERE tenant_id = :tenant_id;

-- name: placements
-- Where every tenant lives, and where it is being moved to.
SELECT tenant_id, server, target FROM placements ORDER BY tenant_id;

-- name: place
-- Give a new tenant its server, unless it has one.
INSERT INTO placements (tenant_id, server) VALUES (:tenant_id, :server)
ON CONFLICT (tenant_id) DO NOTHING;

-- name: loads
-- How many tenants each server has.
SELECT server, count(*) FROM placements GROUP BY server;

-- name: set_target
-- Say where a tenant is being moved to, unless it is on its way to another server.
UPDATE placements SET target = :target
WHERE tenant_id = :tenant_id AND coalesce(target, :target) = :target RETURNING server;

-- name: drop_target
-- Say that a tenant is not being moved any more.
UPDATE placements SET target = NULL WHERE tenant_id = :tenant_id;

-- name: set_server
-- Say where a tenant lives now that it was moved; its old rows remain to be removed.
UPDATE placements SET server = :server WHERE tenant_id = :tenant_id;

-- name: settled
-- Every tenant that has rows on this server.
SELECT tenant_id FROM tenants ORDER BY tenant_id;

-- name: settle
-- Note that a tenant lives on this server, unless it was ever said where it is.
INSERT INTO residence (tenant_id, state) VALUES (:tenant_id, 'here')
ON CONFLICT (tenant_id) DO NOTHING;

-- name: residence
-- Whether a tenant lives on this server.
SELECT state FROM residence WHERE tenant_id = :tenant_id;

-- name: residents
-- The tenants that may be read on this server.
SELECT tenant_id FROM residence WHERE state IN ('here', 'leaving');

-- name: arrive
-- Let one move, and no other any more, copy a tenant to this server.
INSERT INTO residence (tenant_id, state, mover) VALUES (:tenant_id, 'arriving', :mover)
ON CONFLICT (tenant_id) DO UPDATE SET state = 'arriving', mover = excluded.mover
WHERE residence.state IN ('arriving', 'gone') RETURNING state;

-- name: leave
-- Let nobody write to a tenant on this server; waits for the transactions that do.
UPDATE residence SET state = 'leaving', mover = :mover
WHERE tenant_id = :tenant_id AND state IN ('here', 'leaving') RETURNING state;

-- name: stay
-- Let a tenant be written on this server again, if this move had it stopped.
UPDATE residence SET state = 'here', mover = NULL
WHERE tenant_id = :tenant_id AND state = 'leaving' AND mover = :mover RETURNING state;

-- name: depart
-- Give up a tenant on this server, if nobody else took over its move.
UPDATE residence SET state = 'gone', mover = NULL
WHERE tenant_id = :tenant_id AND state = 'leaving' AND mover = :mover RETURNING state;

-- name: arrived
-- Let a tenant be used on this server, if nobody else took over its move.
UPDATE residence SET state = 'here', mover = NULL
WHERE tenant_id = :tenant_id AND state = 'arriving' AND mover = :mover RETURNING state;

-- name: stop_leaving
-- Let a tenant be written on this server again, whoever had it stopped.
UPDATE residence SET state = 'here', mover = NULL
WHERE tenant_id = :tenant_id AND state IN ('here', 'leaving') RETURNING state;

-- name: stop_arriving
-- Let no move copy a tenant to this server any more.
UPDATE residence SET state = 'gone', mover = NULL
WHERE tenant_id = :tenant_id AND state = 'arriving' RETURNING state;

-- name: may_copy
-- Fails by a division by zero unless this move may copy a tenant to this server.
WITH own AS (
    SELECT state FROM residence WHERE tenant_id = :tenant_id AND mover = :mover FOR SHARE)
SELECT 1 / count(*) FROM own WHERE state = 'arriving';

-- name: may_drop
-- Fails likewise unless a tenant does not live on this server.
WITH own AS (SELECT state FROM residence WHERE tenant_id = :tenant_id FOR SHARE)
SELECT 1 / count(*) FROM own WHERE state = 'gone';

-- name: may_read
-- Fails by a division by zero, with all that was sent along, unless a tenant may be read here.
SELECT 1 / count(*) FROM residence WHERE tenant_id = :tenant_id AND state IN ('here', 'leaving');

-- name: may_write
-- Fails likewise unless a tenant may be written here; a move waits until this transaction ends.
WITH own AS (SELECT state FROM residence WHERE tenant_id = :tenant_id FOR SHARE)
SELECT 1 / count(*) FROM own WHERE state = 'here';

-- name: models
-- Every model with its number, the same on every server.
SELECT slot, name, version, dimensions FROM models ORDER BY slot;

-- name: put_model
-- Note a model under its number.
INSERT INTO models (slot, name, version, dimensions)
VALUES (:slot, :name, :version, :dimensions) ON CONFLICT DO NOTHING;

-- name: new_model
-- Number a new model, unless it has a number.
INSERT INTO models (slot, name, version, dimensions)
SELECT coalesce(max(slot), 0) + 1, :name, :version, :dimensions FROM models
ON CONFLICT (name, version, dimensions) DO NOTHING;
