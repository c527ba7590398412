import pytest

from support.talk import list_facts


@pytest.mark.parametrize(
    ("question", "answer", "fact"),
    [
        ("Where do you live?", "Porto.", "I live in Porto"),
        ("Nice. Where do you work?", "at Tesco", "I work at Tesco"),
        ("Where are you from?", "Ghana", "I am from Ghana"),
        ("How many kids do you have?", "Two", "I have two kids"),
        ("How old is your son?", "7", "My son is 7"),
        ("What's your name?", "Priya", "My name is Priya"),
        ("What is your dog called?", "Rex", "My dog is called Rex"),
        ("When is your birthday?", "3rd of May", "My birthday is 3rd of May"),
        ("Who do you live with?", "Oh, my nan.", "I live with my nan"),
        ("What did you study?", "law, in Leiden", "I studied law, in Leiden"),
        ("Who is your doctor?", "Dr Farouk", "My doctor is Dr Farouk"),
    ],
)
def test_a_few_words_that_answer_an_open_question_are_a_fact(
    question: str, answer: str, fact: str
) -> None:
    assert list_facts(f"assistant: {question}", answer) == [fact]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How are you?", "Tired."),
        ("What do you need?", "a recipe"),
        ("What would you like?", "the short one"),
        ("Which one do you prefer?", "the blue one"),
        ("Where did you put the file?", "in the folder"),
        ("What do you think?", "great"),
        ("Where do you live?", "not sure"),
        ("Where do you live?", "Why?"),
        ("Where is Porto?", "Portugal"),
        ("Which do you like better, tea or coffee?", "Hard to say."),
        ("Which do you like better, tea or coffee?", "the second"),
        ("Which violins do you like?", "Traditional ones seem appropriate for most settings here."),
        ("What are your thoughts on the mayor?", "he's fine"),
        ("What do you do?", "it's complicated"),
    ],
)
def test_an_answer_of_the_moment_or_about_the_task_is_none(question: str, answer: str) -> None:
    assert list_facts(f"assistant: {question}", answer) == []
