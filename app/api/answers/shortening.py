"""The brief form of each answer that has one."""

from collections.abc import Callable
from typing import Any, Final

from app.api.answers.base import AnswerBase
from app.api.answers.brief import (
    BriefAnswer,
    BriefBatchAnswer,
    BriefContextAnswer,
    BriefHistoryAnswer,
    BriefListAnswer,
    BriefMemory,
    BriefSearchAnswer,
    BriefStoreAnswer,
    BriefWriteAnswer,
)
from app.api.answers.brief_captures import BriefCaptureAnswer, BriefCapturesAnswer
from app.api.answers.brief_changes import (
    BriefAnswersAnswer,
    BriefDecideAnswer,
    BriefRevertAnswer,
    BriefRevertsAnswer,
    BriefReviewDetail,
    BriefReviewsAnswer,
)
from app.api.answers.captures import CaptureAnswer, CapturesAnswer
from app.api.answers.context import ContextAnswer
from app.api.answers.memories import HistoryAnswer, ListAnswer, MemoryOut
from app.api.answers.reverts import RevertAnswer, RevertsAnswer
from app.api.answers.reviews import (
    AnswersAnswer,
    DecideAnswer,
    ReviewDetailOut,
    ReviewsAnswer,
)
from app.api.answers.search import SearchAnswer
from app.api.answers.writes import BatchAnswer, StoreAnswer, WriteAnswer

_FORMS: Final[dict[type[AnswerBase], Callable[[Any], BriefAnswer]]] = {
    SearchAnswer: BriefSearchAnswer.from_answer,
    ListAnswer: BriefListAnswer.from_answer,
    HistoryAnswer: BriefHistoryAnswer.from_answer,
    ContextAnswer: BriefContextAnswer.from_answer,
    MemoryOut: BriefMemory.from_answer,
    BatchAnswer: BriefBatchAnswer.from_answer,
    StoreAnswer: BriefStoreAnswer.from_store,
    WriteAnswer: BriefWriteAnswer.from_answer,
    RevertAnswer: BriefRevertAnswer.from_revert,
    RevertsAnswer: BriefRevertsAnswer.from_answer,
    CaptureAnswer: BriefCaptureAnswer.from_answer,
    CapturesAnswer: BriefCapturesAnswer.from_answer,
    ReviewDetailOut: BriefReviewDetail.from_detail,
    ReviewsAnswer: BriefReviewsAnswer.from_answer,
    AnswersAnswer: BriefAnswersAnswer.from_answer,
    DecideAnswer: BriefDecideAnswer.from_answer,
}


def shorten_answer(answer: AnswerBase) -> BriefAnswer:
    """Return the answer in brief. Only some answers have such a form."""
    return _FORMS[type(answer)](answer)
