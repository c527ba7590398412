"""Which addresses are those of the public internet."""

from ipaddress import IPv4Address, ip_address

import pytest

from app.remote.public_addresses import is_public


@pytest.mark.parametrize(
    "address",
    [
        "8.8.8.8",
        "93.184.215.14",
        "192.0.1.1",
        "172.15.255.255",
        "172.32.0.0",
        "2606:4700:4700::1111",
        "2001:4860:4860::8888",
        "2001:200::1",
        "2a00:1450:4001::200e",
        "::ffff:8.8.8.8",
        "64:ff9b::8.8.8.8",
        "2a00:1450::5efe:808:808",
    ],
)
def test_addresses_of_the_internet_are_public(address: str) -> None:
    assert is_public(ip_address(address))


@pytest.mark.parametrize(
    "address",
    [
        *("0.0.0.0", "10.1.2.3", "100.100.100.200", "127.0.0.1", "169.254.169.254"),
        *("172.16.0.1", "172.31.255.255", "192.0.0.8", "192.0.0.192", "192.88.99.1"),
        *("192.168.0.1", "198.18.0.1", "198.19.255.255", "203.0.113.9", "224.0.0.1"),
        *("240.0.0.1", "255.255.255.255", "168.63.129.16"),
        *("::", "::1", "fe80::1", "fec0::1", "fc00::1", "fd00:ec2::254", "ff02::1"),
        *("5f00::1", "3fff::1", "4000::1", "100::1", "2001:db8::1", "2001:2::1", "2001:20::1"),
        *("::127.0.0.1", "::8.8.8.8", "::ffff:10.0.0.1", "::ffff:0:7f00:1", "::ffff:0:808:808"),
        *("64:ff9b::10.0.0.1", "64:ff9b::169.254.169.254", "64:ff9b:1::a9fe:a9fe"),
        *("64:ff9b:1::808:808", "2002:7f00:1::", "2002:808:808::", "2001::f5ff:fffe"),
        *("2a00:1450::5efe:7f00:1", "2a00:1450::200:5efe:a9fe:a9fe"),
    ],
)
def test_addresses_of_networks_nearby_are_not(address: str) -> None:
    assert not is_public(ip_address(address))


def test_the_answer_for_an_address_inside_another_one_is_its_own() -> None:
    for number in range(0, 2**32, 2**32 // 997):
        for holder in (0xFFFF << 32, 0x64_FF9B << 96):
            inside = ip_address((holder | number).to_bytes(16))
            assert is_public(inside) is is_public(IPv4Address(number))
