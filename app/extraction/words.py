"""Lists of English words by which sentences are told apart. All are in lower case."""

from app.extraction.verbs import add_s


def _list(words: str) -> frozenset[str]:
    return frozenset(words.split())


AUXILIARIES = _list(
    """
    am is are was were be been being have has had having can could will would shall should may might
    must cannot do does did
    """
)

FIRST_PERSON = _list("i we")
PRONOUNS = _list("he she they it")

# Words between a subject and its verb which do not change what the verb is.
ADVERBS = _list(
    """
    always usually often sometimes never rarely seldom also currently now recently just still
    already really mostly mainly normally generally typically actually finally officially only both
    all basically personally primarily once ever even definitely regularly probably not literally
    absolutely simply specifically strictly strongly exclusively occasionally frequently originally
    previously formerly nearly almost kinda sorta soon later then too so very pretty quite super way
    extremely rather fairly hardly truly totally completely fully partly largely apparently honestly
    obviously technically particularly especially
    """
)

IRREGULAR_PAST = _list(
    """
    went got did made saw wrote took gave told said thought knew came left ran found felt had ate
    drank slept spoke drove bought brought caught taught built sent spent lost met paid sold kept
    began broke chose fell flew forgot froze grew heard hid held led meant rode rose sang sat shook
    shot stood stole swam threw understood woke wore won tried was were
    """
)
POLITE_WORDS = _list(
    """
    thanks thank you thx ty cheers please hello hi hey hiya yo morning afternoon evening night good
    great perfect awesome nice cool ok okay k kk sure right alright fine brilliant lovely amazing
    excellent wonderful fantastic sweet super neat wow lol haha hehe sorry apologies no worries
    problem np welcome bye goodbye later see ya soon cya have a day one weekend so much very lots
    for the help your that this it all is was appreciated again appreciate i really yes yep yeah yup
    nope nah hmm hm oh ah ha well got gotcha understood makes sense works me that's been helpful
    thats everyone there team mate folks man dude love legend useful exactly correct absolutely
    indeed totally true then now just enough today obliged debt grateful splendid marvellous
    smashing grand bonzer ace thankyou merci gracias danke obrigado obrigada night-night xx x xxx
    hullo howdy greetings pal bro sis dear sir madam maam speak ahoy alas welp yay yeh yea aye och
    aha ooh hooray phew whoa woah yikes oops uh um of course will do be my pleasure to meet how kind
    and too what ta star life saver lifesaver best interesting point fair congrats congratulations
    happy new year merry christmas feel better talk tomorrow tonight worked work charm like helps
    helped lot heaps ton tons bunch million in advance
    """
)
QUESTION_WORDS = _list(
    """
    what what's whats which who who's whose whom where where's when why how how's
    """
)
IMPERATIVES = _list(
    """
    write make give show explain help fix add remove translate summarise summarize draft list find
    tell let please try suggest recommend create generate convert compare rewrite rephrase refactor
    check look search describe provide use put change update delete keep call remind set send
    calculate compute plan design build run ignore assume imagine pretend act respond reply answer
    continue go stop start turn format sort shorten expand edit proofread correct review analyse
    analyze debug implement define name pick choose outline include exclude skip avoid ensure print
    open close wait hold walk teach ask play do don't never always be book order schedule cancel get
    take bring move replace simplify clean organise organize optimise optimize test think consider
    note see read say spell break split merge combine double drop cut speak record save store log
    mark swap stick bear forget guess focus prepare paste follow estimate brainstorm rank rate
    highlight quote cite come map limit lower raise increase decrease rename return throw wrap
    extract insert tweak polish condense reword
    """
)
FEMALE = _list(
    """
    wife girlfriend fiancée fiancee mother mum mom sister daughter aunt niece grandmother grandma
    gran granny nan landlady stepdaughter stepmother stepmum nana godmother goddaughter
    """
)
MALE = _list(
    """
    husband boyfriend fiancé fiance father dad brother son uncle nephew grandfather grandpa landlord
    stepson stepfather stepdad godfather godson
    """
)
PEOPLE = _list(
    """
    partner spouse cousin boss manager colleague coworker teammate friend neighbour neighbor
    roommate flatmate housemate doctor dentist therapist teacher tutor coach mentor client baby
    child kid toddler twin ex gp physio accountant lawyer assistant intern cto ceo cat dog puppy
    kitten horse rabbit hamster parrot hubby
    """
)
PEOPLE |= FEMALE | MALE
PLURAL_PEOPLE = _list(
    """
    parents kids children sons daughters sisters brothers twins grandparents friends colleagues
    neighbours neighbors cats dogs in-laws cousins flatmates roommates boys girls
    """
)
# A capital at the start of a sentence does not make these a name.
STARTERS = _list(
    """
    the a an this that these those there here it i we you he she they my our your his her their its
    if when while since because although though after before until once as and but so or yes no not
    what which who where why how do does did is are am was were can could will would should shall
    may might must have has had please thanks thank ok okay well also then now just maybe perhaps
    actually honestly basically anyway sorry hello hi hey let let's in on at for with from to of by
    about into over under during without within some any all both each every everyone everything
    nothing nobody someone something anyone anything one most many few several another other such
    more less much too very really still already yet only even again never always usually often
    sometimes sure right good great nice cool wow hmm oh ah lol unless except despite besides
    instead apparently unfortunately luckily hopefully obviously later today tomorrow yesterday
    tonight looks sounds seems feels got going being having trying looking first second third last
    next finally otherwise however therefore thus whatever whenever wherever whether either neither
    alright um uh er erm wanna gonna gotta want kill money whites blacks people men women none same
    different
    like unlike than via per etc not-sure ive im dont cant whoever whose
    """
)
PLAIN_VERBS = _list(
    """
    live work go like love hate use prefer need want speak play run take start end eat drink sleep
    come get make study teach own cost meet open close happen keep stay sit stand hold give bring
    include cover contain require expire belong deploy ship share rent drive walk swim wear know
    mean say call visit arrive leave die turn rotate depend host store serve sell buy pay collect
    handle manage lead support read write watch cook bake ride sing paint knit train coach volunteer
    commute travel fly land grow
    """
)
THIRD_VERBS = frozenset(map(add_s, PLAIN_VERBS)) | _list(
    """
    answers asks believes bides helps hopes insists moves plans refuses snores suffers tells thinks
    """
)
# These are nouns as well.
THIRD_VERBS -= _list("paints serves shares stores supports trains")

# Nouns that open a sentence with a capital and are nobody's name.
COMMON_OPENERS = _list(
    """
    chapter dinner lunch breakfast rent parking standup school work office post chair people folk
    kids dad mum mom guests dogs cats tea coffee deploys releases meetings payday rush bedtime
    nursery swimming football choir practice training page section version
    """
)

# What somebody or something is for long.
LASTING_ADJECTIVES = _list(
    """
    allergic vegan vegetarian married divorced pregnant retired called named born based coeliac
    diabetic due closed open lactose gluten deaf blind left-handed moving my our down out away back
    terrified afraid scared really very so
    pescatarian pescetarian celiac asthmatic dyslexic autistic epileptic anaemic anemic colourblind
    colorblind mute disabled gay lesbian bisexual bi trans nonbinary straight queer single widowed
    engaged separated unemployed freelance teetotal sober religious atheist agnostic catholic
    jewish muslim christian hindu buddhist bilingual trilingual ambidextrous hypertensive intolerant
    insured vaccinated tall bald ginger blonde blond introverted extroverted adopted homeschooled
    self-employed childless lefthanded righthanded shortsighted longsighted insulin-dependent
    expecting claustrophobic
    """
)
