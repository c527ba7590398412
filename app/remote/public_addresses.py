"""Which addresses lie in the public internet, by lists of our own.

`ipaddress.is_global` answers differently from one version of Python to the next, and True for
IPv6 addresses of no use but to reach something near. So IPv6 addresses are allowed by list, and
the blocks of IANA's registries of special purposes are taken out, those of other uses included.
"""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

IPAddress = IPv4Address | IPv6Address

# https://www.iana.org/assignments/iana-ipv4-special-registry, with multicast (224.0.0.0/4).
_SPECIAL_IPV4 = [
    IPv4Network(block)
    for block in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "168.63.129.16/32",  # not IANA's: Azure's own services, as seen from its machines
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.31.196.0/24",
        "192.52.193.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "192.175.48.0/24",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
    )
]
# https://www.iana.org/assignments/ipv6-unicast-address-assignments: all that is given out.
_UNICAST_IPV6 = IPv6Network("2000::/3")
# https://www.iana.org/assignments/iana-ipv6-special-registry, as far as it lies in that block.
# Teredo is in the first one, 6to4 is the third: both hold IPv4 addresses.
_SPECIAL_IPV6 = [
    IPv6Network(block)
    for block in ("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20")
]
# The IPv4 address of a host as IPv6 sockets have it, and as gateways of networks without IPv4 do
# (RFC 6052): such a network reaches the whole of IPv4 by the second one.
_HOLD_IPV4 = [IPv6Network("::ffff:0:0/96"), IPv6Network("64:ff9b::/96")]
# An interface of ISATAP (RFC 5214) has its IPv4 address after these 32 bits.
_ISATAP = (0x0000_5EFE, 0x0200_5EFE)


def is_public(address: IPAddress) -> bool:
    """Return True for an address in the public internet, also if it holds another such one."""
    if isinstance(address, IPv4Address):
        return not any(address in block for block in _SPECIAL_IPV4)
    inner = IPv4Address(int(address) & 0xFFFF_FFFF)
    if any(address in block for block in _HOLD_IPV4):
        return is_public(inner)
    if (int(address) >> 32) & 0xFFFF_FFFF in _ISATAP and not is_public(inner):
        return False
    return address in _UNICAST_IPV6 and not any(address in block for block in _SPECIAL_IPV6)
