"""Answers of the routes that erase."""

from typing import Self
from uuid import UUID

from pydantic import Field

from app.api.answers.base import AnswerBase
from app.api.times import Time
from app.domain.relation import Operation
from app.services.erasures import Receipt


class ReceiptOut(AnswerBase):
    __doc__ = (
        "Proof of what was erased, for whoever kept the text: HMAC-SHA256 of it (UTF-8) under "
        "`key`, in hexadecimal."
    )

    algorithm: str = Field(description="How the digests were made.")
    key: str | None = Field(
        description="Told once and kept nowhere: null where a retry gets this answer again."
    )
    digests: dict[UUID, str] = Field(
        description="A digest of each erased text, by the id of its memory."
    )


class ErasureAnswer(AnswerBase):
    """What was erased, with a receipt."""

    operation: Operation
    erased: list[UUID] = Field(description="The memories that were erased.")
    receipt: ReceiptOut = Field(
        description="Digests of what was erased, which prove it to whoever has a copy."
    )
    known_at: Time = Field(description="The known time of this write.")
    log_id: UUID
    archives_pending: list[str] = Field(
        description=(
            "Archive files that still hold what was erased, because they could not be removed; "
            "retention tries again."
        )
    )

    @classmethod
    def from_receipt(cls, receipt: Receipt, *, shows_key: bool = True) -> Self:
        proof = ReceiptOut.model_construct(
            algorithm="HMAC-SHA256",
            key=receipt.key.hex() if shows_key else None,
            digests=dict(receipt.digests),
        )
        return cls.model_construct(
            operation=Operation.ERASE,
            erased=list(receipt.digests),
            receipt=proof,
            known_at=receipt.known_at,
            log_id=receipt.log_id,
            archives_pending=list(receipt.archives_pending),
        )
