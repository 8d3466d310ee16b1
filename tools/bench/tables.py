"""Tables in Markdown."""


def row(cells):
    return f"| {' | '.join(map(str, cells))} |"


def table(heads, rows):
    """The lines of a table. Columns whose head ends with a colon are aligned to the right."""
    aligned = "|".join("--:" if head.endswith(":") else "---" for head in heads)
    return "\n".join([row(head.removesuffix(":") for head in heads), f"|{aligned}|", *map(row, rows)])


def show(heads, rows):
    """Prints a table and an empty line."""
    print(table(heads, rows), end="\n\n")
