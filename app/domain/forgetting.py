"""Commands to forget: "Forget my address", "Delete what you know about me".

They are a closed grammar of the imperative. "I forget names", "Do not forget to lock the door" and
"Delete the branch after a merge" are facts or instructions, which are to be remembered.
"""

import re

_OPENING = r"""
    (?: (?: please | kindly | ok | okay | just | now | so | and | also | actually
          | (?: hey | hi | hello ) (?: \s \w+ )?
          | (?: can | could | would | will ) \s you
          | you \s (?: can | may | should | must )
          | i (?: \s want | \s need | \s would \s like | 'd \s like ) \s you \s to
          | (?: the \s )? user \s (?: asks | asked | wants | wanted ) (?: \s (?: me | you ) )? \s to
        ) ,? \s
    )*
"""
_OURS = r"(?: that | this | those | these | it | my | our | me | us ) \b"
_KNOWN = r"""
    (?: what (?: ever )? | everything | anything | all ) \s (?: that \s )?
    (?: you | we ) (?: 've )? \s (?: have \s )?
    (?: know | knew | known | have | remember (?: ed )? | stored? | saved? | noted? | kept ) \b
"""
_MEMORY = r"(?: memory | memories | notes? | records? ) \b"
_FROM_MEMORY = rf"\s from \s (?: your | the ) \s (?: long-term \s )? {_MEMORY}"
_COMMAND = re.compile(
    rf"""
    {_OPENING}
    (?: (?: forget | unlearn | unremember ) \s (?! to \b | not \b )
      | (?: do \s not | don't | dont ) \s remember \s (?= {_OURS} )
      | stop \s remembering \s
      | (?: delete | erase | remove | wipe | drop | clear | purge | scrub | discard ) \s
        (?= {_KNOWN}
          | (?: all | everything | anything ) \s (?: about | on ) \s {_OURS}
          | your \s {_MEMORY} \s (?: about | of | on | that ) \b
          | .* {_FROM_MEMORY} (?: ,? \s please )? \W* $
        )
    )
    (?P<named> .*? ) (?: {_FROM_MEMORY} )? (?: ,? \s please )? \W* $
    """,
    re.IGNORECASE | re.VERBOSE,
)
# What a text says behind its command may be a fact of its own.
_NEWS = re.compile(
    r"""
    [.!?;\n] \s* (?! please \b | thanks \b | thank \b ) \w+ \s+ \w+
    | [,:–—-] \s+ (?: (?: but | and | so | instead | now | because ) \s+ )*
      (?: i | we | it | he | she | they | there | use | i'm | i've | it's | we're ) \b
    | \b instead \b
    """,
    re.IGNORECASE | re.VERBOSE,
)


def read_command_to_forget(text: str) -> str | None:
    """Return the command in one form, "Forget …"; None if the text is none or says more."""
    straight = " ".join(text.replace("’", "'").split())
    command = _COMMAND.match(straight)
    if command is None or _NEWS.search(straight):
        return None
    return f"Forget {command['named']}"
