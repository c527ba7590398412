import pytest

from app.domain.numbers import is_payment_card, measure_iban, passes_luhn


@pytest.mark.parametrize("digits", ["79927398713", "4111111111111111", "0"])
def test_luhn_accepts_a_right_check_digit(digits: str) -> None:
    assert passes_luhn(digits)


def test_luhn_notices_one_wrong_digit_and_two_that_are_swapped() -> None:
    right = "4539578763621486"
    assert passes_luhn(right)
    for place, digit in enumerate(right):
        wrong = right[:place] + str((int(digit) + 1) % 10) + right[place + 1 :]
        assert not passes_luhn(wrong)
    assert not passes_luhn("4359578763621486")


@pytest.mark.parametrize(
    ("number", "is_card"),
    [
        ("4111 1111 1111 1111", True),
        ("6011-0009-9013-9424", True),
        ("30569309025904", True),
        ("3530111333300000", True),
        ("0000000000000000", False),
        ("1234567812345670", False),
        ("411111111111111", False),
    ],
)
def test_a_card_has_a_scheme_its_length_and_a_check_digit(number: str, is_card: bool) -> None:
    assert is_payment_card(number) is is_card


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("GB29NWBK60161331926819", 22),
        ("GB29 NWBK 6016 1331 9268 19 AND MORE", 27),
        ("GB29NWBK60161331926818", 0),
        ("XX29NWBK60161331926819", 0),
        ("GB29", 0),
    ],
)
def test_an_iban_ends_at_the_length_of_its_country(text: str, length: int) -> None:
    assert measure_iban(text) == length
