"""Runs the migrations on the connection that ``opening`` hands over."""

from alembic import context

from proofstone.engines.store.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
