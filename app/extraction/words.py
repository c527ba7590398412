"""Lists of English words by which sentences are told apart. All are in lower case."""


def _list(words: str) -> frozenset[str]:
    return frozenset(words.split())


BE = _list("am is are was were be been being")
HAVE = _list("have has had having")
MODALS = _list("can could will would shall should may might must cannot")
AUXILIARIES = BE | HAVE | MODALS | _list("do does did")

FIRST_PERSON = _list("i we")
PRONOUNS = _list("he she they it")
PRONOUN_OWNERS = _list("his her their its")

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

# Somebody thinks, asks or talks: no statement about the world.
TALK_VERBS = _list(
    """
    think guess mean see get want wish hope need wonder know understand feel suppose believe agree
    assume remember forget expect appreciate doubt swear promise bet reckon figure ask hear notice
    seem look keep try hate-to disagree apologize apologise recall imagine trust say tell suspect
    fear worry read plan refuse curious care mind got thought meant require plead beg vote thank
    blame miss respect admire
    """
)

# Past verbs and participles that tell of a change in a life or in a company.
PAST_EVENTS = _list(
    """
    married graduated divorced adopted signed migrated founded hired promoted relocated enrolled
    inherited launched became resigned transferred emigrated immigrated qualified converted merged
    acquired standardised standardized rented retired joined volunteered quit died grew born lived
    worked studied taught trained rescheduled postponed cancelled canceled renamed
    """
)
# Others tell of one only with certain words behind them, a name or a date.
PAST_EVENT_PHRASES = {
    "agreed": _list("to that with our"),
    "became": _list("a an vegan vegetarian"),
    "began": _list("my our as at"),
    "booked": _list("a our my the"),
    "bought": _list("my our a an"),
    "broke": _list("my our up"),
    "came": _list("off"),
    "changed": _list("my our jobs careers to"),
    "chose": _list("my our"),
    "chosen": _list("my our"),
    "closed": _list("our down in"),
    "decided": frozenset(),
    "dropped": _list("out support"),
    "earned": _list("my a"),
    "gave": _list("up birth"),
    "given": _list("up"),
    "got": _list(
        """
        married divorced engaged promoted hired fired laid accepted diagnosed my our two three four
        five 2 3 4 5
        """
    ),
    "hosted": _list("our my"),
    "left": _list("my our the school university uni college home"),
    "lost": _list("my our"),
    "married": _list("my in young a"),
    "met": _list("my our"),
    "moved": _list("to from in into out back house here abroad away our my flat"),
    "opened": _list("our my a at in"),
    "owned": _list("a an my our"),
    "passed": _list("my our away"),
    "picked": _list("up"),
    "played": _list("for football piano violin guitar tennis"),
    "pushed": _list("our back"),
    "put": _list("me us our my"),
    "raised": _list("by"),
    "ran": _list("marathons"),
    "renewed": _list("my our"),
    "replaced": _list("our my"),
    "settled": _list("on in"),
    "shipped": _list("our"),
    "sold": _list("my our"),
    "split": _list("up"),
    "started": _list(
        """
        a my our at as in on working using taking learning school uni university therapy keto eating
        nursery kindergarten primary secondary college
        """
    ),
    "stopped": _list("eating drinking smoking taking using working going playing driving"),
    "swapped": _list("my our the to from"),
    "traded": _list("my our the in"),
    "named": _list("my our the him her"),
    "switched": _list("to from our my jobs over"),
    "trained": _list("as at in"),
    "turned": _list(
        """
        1 2 3 4 5 6 7 8 9 18 21 30 40 50 60 70 80 90 vegan vegetarian
        down one two three four five six seven eight nine ten eleven twelve thirteen fourteen
        fifteen sixteen seventeen eighteen thirty forty fifty sixty seventy eighty
        """
    ),
    "upgraded": _list("our my"),
    "used": _list("to"),
    "took": _list("up"),
    "went": _list("vegan vegetarian freelance part-time gluten-free dairy-free blind deaf"),
    "won": _list("my our"),
}
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
WEEKDAYS = _list("monday tuesday wednesday thursday friday saturday sunday")
MONTHS = _list(
    """
    january february march april may june july august september october november december jan feb
    mar apr jun jul aug sep sept oct nov dec
    """
)
PEOPLE = _list(
    """
    wife husband partner girlfriend boyfriend fiancé fiancée fiance fiancee spouse mother mum mom
    father dad sister brother son daughter aunt uncle cousin nephew niece grandmother grandma gran
    grandfather grandpa granny nan boss manager colleague coworker teammate friend neighbour
    neighbor landlord landlady roommate flatmate housemate doctor dentist therapist teacher tutor
    coach mentor client baby child kid toddler stepson stepdaughter stepfather stepmother stepmum
    stepdad twin ex gp physio accountant lawyer assistant intern cto ceo cat dog puppy kitten horse
    rabbit hamster parrot hubby nana godmother godfather goddaughter godson
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
# Words by which "Anna's …" is short for "Anna is …".
STATES = _list(
    """
    allergic vegan vegetarian married divorced pregnant retired called named born based coeliac
    celiac diabetic due closed open lactose gluten deaf blind left-handed moving my our 1 2 3 4 5 6
    7 8 9 10 11 12 13 14 15 16 17 18 down out away back terrified afraid scared really very so
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
THIRD_VERBS = _list(
    """
    lives works goes likes loves hates uses prefers needs wants speaks plays runs takes starts ends
    eats drinks sleeps comes gets makes studies teaches owns costs meets opens closes happens keeps
    stays sits stands holds gives brings includes covers contains requires expires belongs deploys
    ships rents drives walks swims wears knows means says calls visits arrives leaves dies turns
    rotates depends hosts sells buys pays collects handles manages leads reads writes watches cooks
    bakes rides sings knits coaches volunteers commutes travels flies lands grows helps thinks
    answers refuses insists hopes believes suffers snores moves plans bides asks tells
    """
)

# Nouns that open a sentence with a capital and are nobody's name.
COMMON_OPENERS = _list(
    """
    chapter dinner lunch breakfast rent parking standup school work office post chair people folk
    kids dad mum mom guests dogs cats tea coffee deploys releases meetings payday rush bedtime
    nursery swimming football choir practice training page section version
    """
)


LASTING_ADJECTIVES = STATES | frozenset(
    """
    pescatarian pescetarian celiac asthmatic dyslexic autistic epileptic anaemic anemic colourblind
    colorblind mute disabled gay lesbian bisexual bi trans nonbinary straight queer single widowed
    engaged separated unemployed freelance teetotal sober religious atheist agnostic catholic
    jewish muslim christian hindu buddhist bilingual trilingual ambidextrous hypertensive intolerant
    insured vaccinated tall bald ginger blonde blond introverted extroverted adopted homeschooled
    self-employed childless lefthanded righthanded shortsighted longsighted insulin-dependent
    expecting claustrophobic
    """.split()
)
