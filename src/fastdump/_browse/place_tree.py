"""A widget with the places of a table as a tree; what is below a place is made when it opens."""

from __future__ import annotations

from typing import Any, ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.widgets import Tree
from textual.widgets.tree import TreeNode

from fastdump._browse.health import BAD, MARKS
from fastdump._browse.places import Place, Places
from fastdump._words.styles import SUBTLE

_MOST_CHILDREN = 1000
"""More places below one are left out of the tree, the least urgent first; the table has them."""


class PlaceTree(Tree[Place]):
    """The places of a table: ranks, steps, layers and operators, each with its health."""

    DEFAULT_CSS = """
    PlaceTree { scrollbar-size-vertical: 1; scrollbar-size-horizontal: 1; overflow-x: hidden; }
    """

    ICON_NODE = "\u25b8 "
    ICON_NODE_EXPANDED = "\u25be "
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right", "open", show=False),
        Binding("left", "close", show=False),
    ]

    def __init__(self, **options: Any) -> None:
        # Labels are rich texts: a str would be read as markup.
        super().__init__(Text("everything"), **options)
        self.guide_depth = 2
        self._places: Places | None = None

    def show(self, places: Places, title: str) -> Place:
        """Show the places of another table, and return the one with the cursor.

        What was open stays open, and the cursor where it was, as far as that is there still.
        """
        opened = _opened(self.root)
        marked = _path(self.cursor_node) if self.cursor_node else []
        self._places = places
        everything = places.everything(title)
        # The cursor would stay at a node that is no longer in the tree.
        self.unselect()
        self.clear()
        self.root.data = everything
        self.root.set_label(_label(everything))
        self._fill(self.root)
        self._open(self.root, opened)
        if not opened:
            self._open_only_children(self.root)
        node = _at(self.root, marked) or self.root
        self.get_node_at_line(0)  # nodes have no line before
        self.move_cursor(node)
        return node.data or everything

    def action_open(self) -> None:
        """Open the place with the cursor; go into it if it is open."""
        node = self.cursor_node
        if node is not None and node.allow_expand:
            if node.is_expanded:
                self.action_cursor_down()
            node.expand()

    def action_close(self) -> None:
        """Close the place with the cursor; go to the one above it if it is closed."""
        node = self.cursor_node
        if node is not None and node.is_expanded and node.allow_expand:
            node.collapse()
        elif node is not None and node.parent is not None:
            self.move_cursor(node.parent)

    def _on_tree_node_expanded(self, event: Tree.NodeExpanded[Place]) -> None:
        self._fill(event.node)

    def _fill(self, node: TreeNode[Place]) -> None:
        """Add what is below a place, unless that is done."""
        if node.data is None or self._places is None or node.children:
            return
        children = self._places.children(node.data)
        left_out = len(children) - _MOST_CHILDREN
        if left_out > 0:
            urgent = sorted(children, key=lambda place: (-place.health, place.begin))
            children = sorted(urgent[:_MOST_CHILDREN], key=lambda place: place.begin)
        for place in children:
            is_operator = place.depth == self._places.depth
            node.add(_label(place), place, allow_expand=not is_operator)
        if left_out > 0:
            node.add(Text(f"\u2026 {left_out:,} more", SUBTLE), node.data, allow_expand=False)

    def _open(self, node: TreeNode[Place], opened: dict[str, Any]) -> None:
        for child in node.children:
            title = child.data.title if child.data else ""
            if title in opened and child.allow_expand:
                self._fill(child)
                child.expand()
                self._open(child, opened[title])
        node.expand()

    def _open_only_children(self, node: TreeNode[Place]) -> None:
        """Open what would be the only choice."""
        node.expand()
        while len(node.children) == 1 and node.children[0].allow_expand:
            (node,) = node.children
            self._fill(node)
            node.expand()


def _label(place: Place) -> Text:
    mark = MARKS[place.health]
    label = Text()
    label.append(f"{mark.text} ", mark.style)
    label.append(place.title)
    if place.health == BAD:
        label.append(f"  {place.n_bad:,}", mark.style)
    return label


def _opened(node: TreeNode[Place]) -> dict[str, Any]:
    """Return the titles of the open places below one, each with those below it."""
    return {
        child.data.title: _opened(child)
        for child in node.children
        if child.data is not None and child.is_expanded and child.allow_expand
    }


def _path(node: TreeNode[Place]) -> list[str]:
    """Return the titles from below the root to a place."""
    path: list[str] = []
    while node.parent is not None:
        path.append(node.data.title if node.data else "")
        node = node.parent
    return path[::-1]


def _at(root: TreeNode[Place], path: list[str]) -> TreeNode[Place] | None:
    """Return the place with a path, None if it is not there."""
    node = root
    for title in path:
        found = [child for child in node.children if child.data and child.data.title == title]
        if not found:
            return None
        node = found[0]
    return node
