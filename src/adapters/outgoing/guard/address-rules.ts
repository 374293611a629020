import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'
import type { AddressRule } from '../../../kernel/ports/webhook-sender.js'
import type { Target } from './target.js'

export interface AllowList {
  /** Allowed networks besides the public ones, such as `10.0.0.0/8`. */
  readonly cidrs: readonly string[]
  /** Hosts with any address, such as `receiver.internal`; `receiver.internal:25` also allows a refused port. */
  readonly hosts: readonly string[]
}

export interface Listening {
  readonly address: string
  readonly port: number
}

export interface AddressRules {
  /** The rule that refuses the port of a target; undefined if it is allowed. */
  readonly refusalOfPort: (target: Target) => AddressRule | undefined
  /** The rule that refuses a connection to this address for the target; undefined if it is allowed. */
  readonly refusalOfAddress: (target: Target, address: string) => AddressRule | undefined
}

type Address = ipaddr.IPv4 | ipaddr.IPv6

/**
 * Allows public addresses and the operator's allow list. Never allowed are reserved addresses, metadata services of
 * clouds, and the service itself.
 */
export const addressRules = (
  allowed: AllowList,
  listening: () => Listening | undefined = () => undefined,
): AddressRules => {
  const cidrs = allowed.cidrs.map(cidr)
  const hosts = new Set(allowed.hosts.map((host) => host.toLowerCase().replaceAll(/[[\]]/g, '')))
  const isNamed = ({ host, port }: Target) => hosts.has(host) || hosts.has(`${host}:${port}`)
  return {
    refusalOfPort: ({ host, port }) =>
      port > 0 && (!REFUSED_PORTS.has(port) || hosts.has(`${host}:${port}`)) ? undefined : 'port',
    refusalOfAddress: (target, text) => {
      if (isIP(text) === 0) return 'reserved'
      const address = ipaddr.process(text)
      const all = [address, ...embeddedIpv4(address)]
      const own = listening()
      if (all.some(isMetadata)) return 'metadata'
      if (all.some((one) => isIn(one, RESERVED))) return 'reserved'
      if (all.some((one) => isOwn(one, target.port, own))) return 'own_address'
      const isAllowed = isPublic(address) || isNamed(target) || cidrs.some((cidr) => isWithin(address, cidr))
      return isAllowed ? undefined : 'private_network'
    },
  }
}

/** Ports of services that a POST can harm, or that speak other protocols. */
const REFUSED_PORTS = new Set([
  1, 7, 9, 19, 21, 22, 23, 25, 53, 69, 110, 111, 119, 135, 139, 143, 161, 389, 445, 465, 512, 513, 514, 515,
  554, 587, 636, 873, 993, 995, 1433, 1521, 2049, 2375, 2376, 2379, 2380, 3306, 3389, 5432, 5672, 5900, 6000,
  6379, 6443, 6667, 9042, 9092, 10250, 11211, 27017,
])

const isWithin = (address: Address, [network, bits]: [Address, number]): boolean =>
  address.kind() === network.kind() && address.match([network, bits] as [never, number])

const cidr = (text: string): [Address, number] => ipaddr.parseCIDR(text)

/** The only range of IPv6 from which public addresses are assigned. */
const GLOBAL_IPV6 = cidr('2000::/3')

const isPublic = (address: Address): boolean =>
  address.range() === 'unicast' && (address.kind() === 'ipv4' || isWithin(address, GLOBAL_IPV6))

/** Metadata and credential services of the large clouds; one of them has a public address. */
const METADATA = [
  '169.254.169.254/32',
  '169.254.170.2/32',
  '169.254.170.23/32',
  '100.100.100.200/32',
  '168.63.129.16/32',
  'fd00:ec2::254/128',
  'fd00:ec2::23/128',
  'fd20:ce::254/128',
].map(cidr)

const RESERVED = ['0.0.0.0/8', '224.0.0.0/4', '255.255.255.255/32', '::/128', 'ff00::/8'].map(cidr)

const isIn = (address: Address, networks: readonly [Address, number][]): boolean =>
  networks.some((network) => isWithin(address, network))

/** Any IPv6 network can be the NAT64 prefix of a site, so a metadata address in the last four bytes is always refused. */
const isMetadata = (address: Address): boolean =>
  isIn(address, METADATA) ||
  (address.kind() === 'ipv6' && isIn(new ipaddr.IPv4(address.toByteArray().slice(12)), METADATA))

const IPV6_LOOPBACK = '::1'
const NAT64_LOCAL = cidr('64:ff9b:1::/48')
const TEREDO = cidr('2001::/32')
const SIX_TO_FOUR = cidr('2002::/16')
/** IPv4-compatible, IPv4-translated and the well-known prefix of NAT64. IPv4-mapped addresses are parsed as IPv4. */
const IPV4_AT_THE_END = ['::/96', '::ffff:0:0:0/96', '64:ff9b::/96'].map(cidr)
/** RFC 6052, 2.2: the bytes of the IPv4 address behind a prefix of 48, 56, 64 and 96 bits. */
const NAT64_LAYOUTS = [
  [6, 7, 9, 10],
  [7, 9, 10, 11],
  [9, 10, 11, 12],
  [12, 13, 14, 15],
]

/** The IPv4 addresses that a translator or a tunnel may send to for this IPv6 address. */
const embeddedIpv4 = (address: Address): readonly ipaddr.IPv4[] => {
  if (address.kind() === 'ipv4' || address.toString() === IPV6_LOOPBACK) return []
  const bytes = address.toByteArray()
  const at = (places: readonly number[]) => new ipaddr.IPv4(places.map((place) => bytes[place]!))
  if (isIn(address, IPV4_AT_THE_END)) return [at([12, 13, 14, 15])]
  if (isWithin(address, SIX_TO_FOUR)) return [at([2, 3, 4, 5])]
  // The client's address is stored inverted.
  if (isWithin(address, TEREDO))
    return [at([4, 5, 6, 7]), new ipaddr.IPv4(bytes.slice(12).map((byte) => byte ^ 0xff))]
  if (!isWithin(address, NAT64_LOCAL)) return []
  // The length of the prefix is unknown. Zeros are padding in the other layouts, unless all layouts give zeros.
  const readings = NAT64_LAYOUTS.map(at)
  const likely = readings.filter((reading) => reading.octets[0] !== 0)
  return likely.length > 0 ? likely : readings
}

/** A service that listens everywhere is reached by every address of its machine. */
const isOwn = (address: Address, port: number, own: Listening | undefined): boolean => {
  if (own?.port !== port) return false
  const listens = ipaddr.process(own.address)
  if (listens.range() !== 'unspecified') return listens.toString() === address.toString()
  return address.range() === 'loopback' || localAddresses().includes(address.toString())
}

const localAddresses = (): readonly string[] =>
  Object.values(networkInterfaces()).flatMap((addresses = []) =>
    addresses.map(({ address }) => ipaddr.process(address.replace(/%.*/, '')).toString()),
  )
