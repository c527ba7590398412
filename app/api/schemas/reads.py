"""Requests that read memories: lists, searches, contexts, at any point in time."""

from dataclasses import replace
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, StrictBool

from app.api import examples
from app.api.cursors import Cursor, HistoryCursor
from app.api.schemas.fields import (
    MAX_LIMIT,
    Content,
    Details,
    DetailsText,
    Fraction,
    Number,
    PageSize,
    StrictRequest,
    Word,
)
from app.api.schemas.memories import FilterFields
from app.api.times import Time
from app.api.views import VIEW_DESCRIPTION, View
from app.domain.errors import InvalidFact
from app.services.history import HistoryPosition
from app.services.lists import ListQuestion
from app.store.memories import After, Point

MAX_BUDGET = 32_000
MAX_IDS = 200


class PointQuery(StrictRequest):
    """A point on both axes of time."""

    as_of: Time | None = Field(None, description="What was true at that time. Default: now.")
    known_at: Time | None = Field(
        None, description="As far as was known at that time. Default: all that is known."
    )

    def to_point(self) -> Point:
        return Point(self.as_of, self.known_at)


class MemoryQuery(PointQuery):
    """A read of memories."""

    view: View = Field(View.FULL, description=VIEW_DESCRIPTION)


_DETAILS_FILTER = (
    "Only memories whose `details` hold all of this, nested too; of a list, some of its values"
)


class FilterQuery(MemoryQuery, FilterFields):
    """A list or a search by GET."""

    details: DetailsText | None = Field(
        None, description=f'{_DETAILS_FILTER}. As JSON: `{{"ticket": 7}}`.'
    )
    include_superseded: bool = Field(
        default=False, description="Every version, not only what holds."
    )

    def to_point(self) -> Point:
        return replace(super().to_point(), include_superseded=self.include_superseded)


class ListQuery(FilterQuery):
    """A page of a list."""

    ids: list[UUID] = Field(
        default_factory=list,
        max_length=MAX_IDS,
        description=f"Only these memories; repeat it for each, up to {MAX_IDS} times.",
    )
    sort: Literal["created", "strength"] = Field(
        "created", description="Newest known first, or strongest first."
    )
    stale: bool | None = Field(
        None,
        description=(
            "true: only what rests on a memory that has ended (`stale_because`); false: the others."
        ),
    )
    limit: PageSize = 50
    cursor: str | None = Field(
        None, description="`next_cursor` of the page before; filters and `sort` must stay the same."
    )
    exact: bool = Field(
        default=False,
        description=(
            "Look at every memory until the page is full, and sort by the strengths of now, even "
            "if the agent has an index. An agent without one is always listed like that."
        ),
    )

    def to_question(self) -> ListQuestion:
        point, after = self.locate_page()
        return ListQuestion(
            self.to_filters(),
            point,
            self.limit,
            after,
            by_strength=self.sort == "strength",
            exact=self.exact,
        )

    def locate_page(self) -> tuple[Point, After | None]:
        """Return the point to list from, and the position to go on from."""
        point = self.to_point()
        if not self.cursor:
            return point, None
        cursor = Cursor.decode(self.cursor)
        if (cursor.after.strength is None) != (self.sort == "created"):
            raise InvalidFact(
                "cursor: it is of a list in another order. Give the same `sort` on every page, or "
                "leave it out to start again."
            )
        if cursor.moment:
            point = Point(
                as_of=cursor.moment.as_of,
                known_at=cursor.moment.known_at,
                include_superseded=point.include_superseded,
                all_uses=point.known_at is None,
                of_present=point.is_present,
            )
        return point, cursor.after


class HistoryQuery(MemoryQuery):
    """A page of a history."""

    cursor: str | None = Field(
        None, description="`next_cursor` of the page before; `as_of` and `known_at` stay the same."
    )

    def locate_page(self) -> tuple[Point, HistoryPosition | None]:
        """Return the point to read at, and the position to go on from."""
        point = self.to_point()
        if not self.cursor:
            return point, None
        cursor = HistoryCursor.decode(self.cursor)
        moment = cursor.moment
        all_uses = point.known_at is None
        return Point(moment.as_of, moment.known_at, all_uses=all_uses), cursor.position


Sort = Annotated[
    Literal["score", "strength"],
    Field(
        description=(
            "Order of the memories found: best match first, or strongest first. It never hides one."
        )
    ),
]


FOCUS = "Leave out what hardly answers: results below a score of 0.03."
Included = Literal["turns"]
INCLUDE = (
    "`turns`: search messages, too, by meaning and words. They are answered beside the results."
)
READ_DATES = (
    'Read words such as "in March", "last week" or "since 2024" as the time that the question asks '
    "about: what held then is searched too, and comes first, above all what began or ended then. "
    "The answer shows the `window`. Only questions about the present are read so."
)
EXACT = (
    "Look at every memory, even if the agent has an index. An agent without one is always searched "
    "like that."
)


class SearchRequest(FilterFields):
    """A search. Without dates: what holds now, as far as is known."""

    query: Content
    details: Details | None = Field(None, description=f"{_DETAILS_FILTER}.")
    min_importance: Annotated[Fraction, Number] | None = None
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT), Number] = 10
    mode: Literal["hybrid", "vector", "text"] = "hybrid"
    min_score: Annotated[Fraction, Number] = 0.0
    focus: StrictBool = Field(default=False, description=FOCUS)
    include: list[Included] = Field([], description=INCLUDE)
    sort: Sort = "score"
    as_of: Time | None = Field(
        None,
        description="What was true at that time.",
    )
    known_at: Time | None = Field(
        None,
        description="As far as was known at that time.",
    )
    include_superseded: StrictBool = Field(
        default=False,
        description="Search every version, not only what holds.",
    )
    exact: StrictBool = Field(default=False, description=EXACT)
    read_dates: StrictBool = Field(default=True, description=READ_DATES)

    def to_point(self) -> Point:
        return Point(self.as_of, self.known_at, self.include_superseded)


class SearchQuery(FilterQuery):
    """A search by GET."""

    q: Annotated[
        Content, Field(description="What to search for.", json_schema_extra=examples.QUESTION)
    ]
    limit: PageSize = 10
    mode: Literal["hybrid", "vector", "text"] = "hybrid"
    min_score: Fraction = 0.0
    focus: bool = Field(default=False, description=FOCUS)
    include: list[Included] = Field([], description=INCLUDE)
    sort: Sort = "score"
    exact: bool = Field(default=False, description=EXACT)
    read_dates: bool = Field(default=True, description=READ_DATES)


class PreferenceQuery(MemoryQuery):
    """The preference of an entity, at a point in time."""

    entity: Word = "user"


class ContextQuery(MemoryQuery, FilterFields):
    """The subject of a context, and how long the context may be."""

    query: Content | None = Field(
        None,
        description="What the prompt is about; without it, the strongest memories come first.",
        json_schema_extra=examples.QUESTION,
    )
    budget_tokens: Annotated[int, Field(ge=1, le=MAX_BUDGET)] = Field(
        1000,
        description=(
            "Tokens that the text may take, headings included, by an estimate that is right to "
            "about a tenth."
        ),
    )
    focus: bool = Field(
        default=True,
        description=(
            "With a query, leave out what hardly answers it, but for constraints and core "
            "memories. If nothing answers it, the strongest stay."
        ),
    )
    questions: bool = Field(
        default=True,
        description=(
            "End the text with up to three open questions about what it shows, in at most a third "
            "of the budget. Only a context of the present has any."
        ),
    )
    talk: bool = Field(
        default=True,
        description=(
            "End the text with up to three messages that are likely about the query and became no "
            "fact, if the budget has room."
        ),
    )
