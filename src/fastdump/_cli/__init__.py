"""The command line: one module for each command, loaded when the command is called."""

from __future__ import annotations

import errno
import importlib
import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress

import click

from fastdump import FastdumpError
from fastdump._cli import exit_codes
from fastdump._cli.address_space import missing_room
from fastdump._cli.groups import Group
from fastdump._cli.messages import say
from fastdump._cli.signals import EndingSignals

_COMMANDS = {
    "ls": "What a dump holds, and what is odd about it; reads headers only.",
    "stats": "Statistics of every tensor, worst first.",
    "show": "One operator, by name or file: header, tensors, statistics.",
    "browse": "A dump on the whole screen: a tree, tables, tensors, chains.",
    "triage": "Which operator made the first bad value, and what followed.",
    "follow": "Read a dump while a run writes it; tell at once where it went bad.",
    "compare": "Where two runs part: pairs of tensors, and operators that diverge.",
    "report": "One page of HTML about a dump, or about where two part.",
    "overflow": "Overflow records, decoded and joined with their operators.",
    "watcher": "Which operator overwrote the memory of another.",
    "convert": "npy, safetensors and other files of every tensor.",
    "export": "Scalars for TensorBoard, by layer and step; text for Prometheus.",
    "merge": "One table of the tables of several scans, ranks or nodes.",
    "config": "Check, explain or write an acl.json.",
    "info": "Versions, instruction sets and threads.",
    "demo": "Write a small, realistic dump to try all this on.",
}

# click derives this name for `eval "$(_FASTDUMP_COMPLETE=bash_source fastdump)"`.
_COMPLETE_VARIABLE = "_FASTDUMP_COMPLETE"
_DEBUG_VARIABLE = "FASTDUMP_DEBUG"
_MAX_ERROR_TEXT = 300


class _CommandLine(Group):
    """A group whose commands are modules of this package, imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f"fastdump._cli.{cmd_name}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        # click's own method asks every command for its help, which would import them all.
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


def _show_version(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    if not value or ctx.resilient_parsing:
        return
    # The extension is not loaded before there is known to be room for it.
    from fastdump import __version__

    click.echo(f"fastdump {__version__}")
    ctx.exit()


@click.group(
    cls=_CommandLine,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version and exit.",
)
@click.option(
    "--no-pager",
    is_flag=True,
    help="Print what is longer than the screen without a pager.",
)
def _command_line(no_pager: bool) -> None:  # `fastdump._cli.pager` asks for it
    """Read the tensor dumps of Huawei Ascend/CANN: what is in them, and where numbers went bad.

    \b
    Examples:
      fastdump ls DUMP_DIR                        what was dumped, from the headers only
      fastdump stats DUMP_DIR                     statistics of every tensor, worst first
      fastdump stats DUMP_DIR -o stats.parquet    ... and all of them in a file
      fastdump show DUMP_DIR '*layers.2*qk'       one operator: header, tensors, statistics
      fastdump triage DUMP_DIR                    where the first bad value came from
      fastdump follow DUMP_DIR                    the same while the run goes on
      fastdump compare RUN_A RUN_B                which operator diverges first, and how far
      fastdump report DUMP_DIR                    one page of HTML with all that, to pass on
      fastdump overflow DUMP_DIR                  what the overflow records say, of which operator
      fastdump watcher DUMP_DIR                   which operator overwrote another's memory
      fastdump convert DUMP_DIR OUT               npy files of every tensor
      fastdump merge all.parquet parts/           one table of those of several scans
      fastdump config check acl.json              what the vendor's code does with a configuration

    Exit codes: 0 done; 1 done, with findings; 2 wrong usage, nothing that could be read, or an
    output that could not be written; 3 done, but something could not be read whole, compared or
    converted; 130 interrupted (what was done is printed and written); docs/command-line.md has all.
    """  # noqa: D301 (\b is for click: do not wrap)


def main(args: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    args
        Arguments without the program's name; None takes those of the process.

    Returns
    -------
    int
        One of `fastdump._cli.exit_codes`.
    """
    with EndingSignals() as signals:
        try:
            code = _flushed(_run(args))
        except KeyboardInterrupt:
            code = exit_codes.INTERRUPTED
        return signals.exit_code(code)


def _run(args: Sequence[str] | None) -> int:
    try:
        _check_standard_files()
        reason = missing_room()
        if instruction := os.environ.get(_COMPLETE_VARIABLE):
            return exit_codes.NOTHING_READ if reason else _complete(instruction)
        if reason:
            return _fail(reason)
        arguments = list(sys.argv[1:] if args is None else args) or ["--help"]
        with _command_line.make_context("fastdump", arguments) as context:
            code: int = _command_line.invoke(context)
            return code
    except click.exceptions.Exit as exit_:
        return exit_.exit_code
    except click.UsageError as error:
        return _fail(_usage_error_text(error))
    except click.ClickException as error:
        return _fail(error.format_message())
    except BrokenPipeError:
        return exit_codes.BROKEN_PIPE
    except OSError as error:
        _trace_if_asked()
        return _fail(_os_error_text(error), *_file_names(error))
    except FastdumpError as error:
        _trace_if_asked()
        return _fail(str(error))
    except MemoryError:
        _trace_if_asked()
        return _fail("not enough memory; fewer --threads and a narrower selection need less")
    except KeyboardInterrupt:
        say("interrupted")
        return exit_codes.INTERRUPTED
    except SystemExit:
        raise
    except BaseException as error:  # libraries in Rust panic with an exception of this kind
        return _last_resort(error)


def _complete(instruction: str) -> int:
    """Print what a shell asked for; it has no use for messages, which would end up in the line."""
    try:
        from click.shell_completion import shell_complete  # only for a shell that asks

        return shell_complete(_command_line, {}, "fastdump", _COMPLETE_VARIABLE, instruction)
    except Exception:
        _trace_if_asked()
        return exit_codes.NOTHING_READ


def _check_standard_files() -> None:
    """Raise OSError if there is no standard output; give the other two something to be.

    A file that is opened later would get the number of one that is closed, and what is printed.
    """
    if sys.stdout is None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF), "standard output")
    if sys.stdin is None or sys.stderr is None:
        while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
            pass
        os.close(number)
    if sys.stderr is None:
        sys.stderr = io.TextIOWrapper(io.FileIO(2, "w", closefd=False))


def _flushed(code: int) -> int:
    """Write what is left of the output, and return the exit code after that."""
    if sys.stdout is None:
        return code
    try:
        sys.stdout.flush()
    except OSError as error:
        # Otherwise the interpreter would try again at exit, fail, and print a traceback.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            return exit_codes.BROKEN_PIPE
        return _fail(f"standard output: {error.strerror}")
    return code


def _fail(message: str, *whole: str) -> int:
    say(f"error: {message}", *whole)
    return exit_codes.NOTHING_READ


def _last_resort(error: BaseException) -> int:
    """Report an exception that nobody expected in one line."""
    if isinstance(error, RuntimeError) and str(error) == "can't start new thread":
        _trace_if_asked()
        return _fail("the system grants no more threads or memory for them; try --threads 1")
    if isinstance(error, ImportError) and sys.modules.get("numpy") is None:
        _trace_if_asked()
        return _fail(_numpy_text(error))
    what = type(error).__name__
    if isinstance(error, RecursionError):
        what = "something is nested too deeply"
    elif text := " ".join(str(error).split()):
        what += f": {text[:_MAX_ERROR_TEXT]}"
    more = "" if _trace_if_asked() else f"; {_DEBUG_VARIABLE}=1 shows where"
    say(f"internal error: {what}{more}")
    return exit_codes.INTERNAL_ERROR


def _trace_if_asked() -> bool:
    """Print the traceback of the exception that is being handled if the user asks for it."""
    if not os.environ.get(_DEBUG_VARIABLE):
        return False
    if sys.stderr is not None:
        import traceback  # takes a twentieth of the time of --help

        with suppress(OSError, ValueError):
            traceback.print_exc()
    return True


def _numpy_text(error: ImportError) -> str:
    # What numpy itself says of its parts is a page; the reason is what it says that of.
    why = " ".join(str(error.__cause__ or error).split())[:_MAX_ERROR_TEXT]
    return f"numpy cannot be imported ({why}); install it anew: pip install --force-reinstall numpy"


def _file_names(error: OSError) -> list[str]:
    return [os.fsdecode(error.filename)] if isinstance(error.filename, (str, bytes)) else []


def _usage_error_text(error: click.UsageError) -> str:
    command = error.ctx.command_path if error.ctx else "fastdump"
    message = error.format_message().rstrip(".")
    # Click asks "Did you mean ...?".
    return f"{message}{' See' if message.endswith('?') else '; see'} '{command} --help'"


def _os_error_text(error: OSError) -> str:
    # Unlike str(error), without number and quotes; an error raised with a text alone has no parts.
    if error.strerror is None:
        return str(error)
    if error.filename is None:
        return error.strerror
    return f"{os.fsdecode(error.filename)}: {error.strerror}"
