"""Groups of commands that know which command was meant when one is misspelt."""

from __future__ import annotations

import click


class Group(click.Group):
    """A group that names the command nearest to one that it does not have."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return a command and its arguments; raise click.UsageError if there is none."""
        name = args[0]
        is_option = name.startswith("-")
        if is_option or ctx.resilient_parsing or self.get_command(ctx, name) is not None:
            return super().resolve_command(ctx, args)
        from difflib import get_close_matches  # not loaded where nothing is wrong

        near = get_close_matches(name, self.list_commands(ctx), n=1)
        meant = f" Did you mean {near[0]!r}?" if near else ""
        raise click.UsageError(f"No such command {name!r}.{meant}", ctx)
