"""The kinds of what was missed or taken by mistake, in other words, vendors and languages."""

import pytest

from app.domain.secrets import redact_secrets

# Put together here so that no scanner of sources takes them for real ones.
RUN = "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
HEX = "8f3b1c6d9e204a57"
WALLET_KEY = "0x" + HEX * 4
UUID = "b64e55ea" + "-7b1a-492a-bba4-" + "e78207174c1c"
HEADER = "eyJ" + "hbGciOiJIUzI1NiJ9"


def assert_taken_out(text: str, *secrets: str) -> None:
    redacted, _ = redact_secrets(text)
    assert [secret for secret in secrets if secret in redacted] == []


@pytest.mark.parametrize(
    ("text", "password"),
    [
        ("the pw for the cms is brambleharbour, log in as editor", "brambleharbour"),
        ("My Steam password is mountaingoat and the user is kite", "mountaingoat"),
        ("the guest password is elderberry (lower case)", "elderberry"),
        ("the password is printme!", "printme!"),
        ("Das Kennwort lautet Regenbogen.", "Regenbogen"),
        ("mot de passe du wifi : tournesol", "tournesol"),
        ("la clave del wifi es Tortuga2291", "Tortuga2291"),
        ("Mein Passwort fürs Portal lautet jetzt Birnbaum12!x, merken.", "Birnbaum12!x"),
        ("J'ai changé mon mot de passe en Lune_Bleue41", "Lune_Bleue41"),
        ("Le mdp du NAS est Cerise88.fr", "Cerise88.fr"),
        ("Cambié la contraseña a Halcon_77q ayer", "Halcon_77q"),
        ("als WLAN-Schlüssel 8842-Fuchs-Tunnel", "8842-Fuchs-Tunnel"),
    ],
)
def test_a_password_in_a_sentence_that_goes_on_or_of_another_language(
    text: str, password: str
) -> None:
    assert_taken_out(text, password)


@pytest.mark.parametrize(
    ("text", "password"),
    [
        ('{"user": "svc", "pass": "Grv-88kettle"}', "Grv-88kettle"),
        ("SMTP_PASS=plumtree9", "plumtree9"),
        ('"dbPass":"winter-Coat"', "winter-Coat"),
        ('<add key="SmtpPwd" value="heron-lake" />', "heron-lake"),
        ("auth=('svc', 'B4rley-field')", "B4rley-field"),
        ("client.login('svc', 'B4rley-field')", "B4rley-field"),
        ("docker login ghcr.io -u bob -p W4lnut_shell;", "W4lnut_shell"),
        ("mosquitto_pub -h mq -u sensor -P Lark5song -t x", "Lark5song"),
        ("sqlcmd -S sql01 -U sa -P 'Plover22x'", "Plover22x"),
        ("redis-cli -h cache -a Teal5pond ping", "Teal5pond"),
        ("unzip -P Curlew88 docs.zip", "Curlew88"),
        ("keytool -list -storepass Wigeon55", "Wigeon55"),
        ("openssl enc -d -in a -pass pass:Siskin12", "Siskin12"),
        ("smbclient //srv/share -U bob%Avocet41", "Avocet41"),
        ("net user bob Rook!castle1 /add", "Rook!castle1"),
        ("use svc_backup / eP7$gravel to get in", "eP7$gravel"),
    ],
)
def test_a_password_of_a_setting_a_call_or_a_command(text: str, password: str) -> None:
    assert_taken_out(text, password)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("My passport number is CVLGNL9T7 and it expires in June", "CVLGNL9T7"),
        ("Meine Reisepassnummer ist C01X0006H", "C01X0006H"),
        ("Personalausweis L01X00T47 läuft im Mai ab.", "L01X00T47"),
        ("Mein Führerschein hat die Nummer B072RRE2I55", "B072RRE2I55"),
        ("Steueridentifikationsnummer: 65929970489", "65929970489"),
        ("Rente: 65 170839 J 003", "65 170839 J 003"),
        ("Le passeport de Lucie porte le numéro 14AB12345", "14AB12345"),
        ("sécu 1 85 05 78 006 084 91", "1 85 05 78 006 084 91"),
        ("Olga tiene el 12345678Z", "12345678Z"),
        ("Mi número de pasaporte es PAA123456", "PAA123456"),
        ("sono RSSMRA85T10A562S", "RSSMRA85T10A562S"),
        ("529.982.247-25 é o meu", "529.982.247-25"),
        ("756.9217.0769.85 steht auf der Karte", "756.9217.0769.85"),
        ("My ITIN is 912-70-1234", "912-70-1234"),
        ("the ssn on the form is 536 22 8817", "536 22 8817"),
    ],
)
def test_an_identity_number_by_its_form_or_a_label_of_any_language(text: str, number: str) -> None:
    assert_taken_out(text, number)


def test_the_code_of_a_card_behind_its_date() -> None:
    text = "my card: 5412 6997 8912 3668, exp 03/29, 718"
    assert redact_secrets(text) == (
        "my card: [redacted: card_number], exp 03/29, [redacted: pin]",
        2,
    )


@pytest.mark.parametrize(
    "text",
    [
        "accounts: ['{}']",
        "new ethers.Wallet('{}', provider)",
        "privateKeyToAccount('{}')",
        "DEPLOYER_PK={}",
        "The hot wallet's key: {}",
    ],
)
@pytest.mark.parametrize("key", [WALLET_KEY, WALLET_KEY[2:]])
def test_the_key_of_a_wallet(text: str, key: str) -> None:
    assert_taken_out(text.format(key), key)


@pytest.mark.parametrize(
    ("text", "token"),
    [
        ("Trello key {}", HEX * 2),
        ("the W&B key is {}", HEX * 2 + HEX[:8]),
        ("Opsgenie key is {}", UUID),
        ("Azure DevOps PAT {}", RUN.lower() + RUN[:16].lower()),
        ("https://eth-mainnet.g.alchemy.com/v2/{}", RUN[:32]),
        ("Der API-Schlüssel für den Wetterdienst ist {}.", HEX * 2),
        ("Voici la clé secrète : {}", RUN),
        ("Le jeton d'accès est {}, valable un an", RUN),
    ],
)
def test_a_key_that_only_its_vendor_or_its_label_tells(text: str, token: str) -> None:
    assert_taken_out(text.format(token), token)


@pytest.mark.parametrize(
    ("token", "cut"),
    [
        ("sk" + "-ant-api03-" + RUN + RUN, 50),
        ("gh" + "p_" + RUN, 24),
        (HEADER + ".eyJ" + RUN + RUN + "." + RUN, 70),
        (HEADER + ".eyJ" + RUN + RUN + "." + RUN, 110),
    ],
)
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\n> ", "\\\n", "\n  "])
def test_a_token_that_is_broken_over_lines(token: str, cut: int, line_end: str) -> None:
    text = f"here it is:\n{token[:cut]}{line_end}{token[cut:]}\nPut it together."
    redacted, count = redact_secrets(text)
    assert (count, redacted.rpartition("]")[2]) == (1, "\nPut it together.")
    assert_taken_out(text, token[:cut], token[cut:])


def test_lines_behind_a_token_that_are_none_of_it_stay() -> None:
    token = "gh" + "p_" + RUN
    text = f"{token}\nDB_USER=ledger2\n{token}\nThanks"
    mark = "[redacted: github_token]"
    assert redact_secrets(text) == (f"{mark}\nDB_USER=ledger2\n{mark}\nThanks", 2)


@pytest.mark.parametrize(
    "text",
    [
        "ssh -i ~/.ssh/deploy_key ubuntu@10.0.4.12 works from the office only.",
        "The key fingerprint is SHA256:Nony9YmQKU1oie4NfvPDwq87qbMRIBEWwgcS9Jjhuwp.",
        "The token contract is at 0x574db8649bf0238f35e4c636f42d7e533be3148c.",
        "SEC-1182 is about password spraying.",
        "The S3 key is exports/2026/11/orders.parquet.",
        f"The object key was uploads/{UUID}.png.",
        f"The public key for age is age1{RUN.lower()}.",
        f"Our public SSH key is ssh-ed25519 AAAA{RUN}{RUN} bob@laptop.",
        f"The tx hash of the transfer from my wallet is {WALLET_KEY}.",
        f"The private beta has sha256 {HEX * 4}.",
        f"The commit after the token fix is {HEX * 2}{HEX[:8]}.",
        f"The idempotency key of the refund was {UUID}.",
        "The password is case sensitive, and so is the user.",
        "Your password is about to expire, says the banner.",
        "Das Passwort ist falsch, sagt das Portal.",
        "Le mot de passe est obligatoire, 12 caractères au moins.",
        "Passkeys are drawn, not built.",
        "My boarding pass: gate 22B. The compass: north2.",
        "docker run -u 1000:1000 -p 8080:80 nginx",
        "docker login works, then docker compose -p shop-v2 up.",
        "unzip -p archive2024.zip data.csv",
        "ffmpeg -pass 2 -i in.mp4",
        'auth = ("basic", "digest") are the two modes.',
        "The NHS appointment is on 12-11-2026 at 14:30.",
        "Issue Ledger#1182 is closed, product 12345678A is not.",
        "The OpenAI token counter gpt-4o-2024-11-20 is off by 3.",
    ],
)
def test_what_only_stands_where_a_secret_may_stand_stays(text: str) -> None:
    assert redact_secrets(text) == (text, 0)
