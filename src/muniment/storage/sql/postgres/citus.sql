-- Spreads a store over the nodes of a Citus cluster by tenant_id; run once on the coordinator by an
-- administrator, after `muniment init` and before anything is written. Tables that others refer to
-- come first. `shard`, `residence` and `placements` stay where they are: a cluster needs no map.

-- The reach of a transaction, which the policies read, must travel with SET LOCAL to the workers.
DO $$ BEGIN
    EXECUTE format(
        'ALTER DATABASE %I SET citus.propagate_set_commands = ''local''', current_database());
END $$;

SELECT create_reference_table('store');
SELECT create_reference_table('models');
SELECT create_reference_table('schema_version');
SELECT create_distributed_table('tenants', 'tenant_id');
SELECT create_distributed_table('owners', 'tenant_id', colocate_with => 'tenants');
SELECT create_distributed_table('records', 'tenant_id', colocate_with => 'tenants');
SELECT create_distributed_table('words', 'tenant_id', colocate_with => 'tenants');
SELECT create_distributed_table('vectors', 'tenant_id', colocate_with => 'tenants');
SELECT create_distributed_table('usage', 'tenant_id', colocate_with => 'tenants');
SELECT create_distributed_table('blocks', 'tenant_id', colocate_with => 'tenants');
SELECT create_distributed_table('removals', 'tenant_id', colocate_with => 'tenants');
SELECT create_distributed_table('tombstones', 'tenant_id', colocate_with => 'tenants');
SELECT create_distributed_table('candidates', 'tenant_id', colocate_with => 'tenants');
SELECT create_distributed_table('threads', 'tenant_id', colocate_with => 'tenants');
SELECT create_distributed_table('entries', 'tenant_id', colocate_with => 'tenants');
SELECT create_distributed_table('audit', 'tenant_id', colocate_with => 'tenants');
SELECT create_distributed_table('imported_audit', 'tenant_id', colocate_with => 'tenants');
SELECT create_distributed_table('imported_receipts', 'tenant_id', colocate_with => 'tenants');
SELECT create_distributed_table('deletions', 'tenant_id', colocate_with => 'tenants');
SELECT create_distributed_table('deletion_items', 'tenant_id', colocate_with => 'tenants');
SELECT create_distributed_table('receipts', 'tenant_id', colocate_with => 'tenants');
