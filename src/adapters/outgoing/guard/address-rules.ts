import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'
import type { Target } from './target.js'

export interface AllowList {
  /** Networks that may be reached beside the public ones, as `10.0.0.0/8`. */
  readonly cidrs: readonly string[]
  /** Hosts whose addresses may be anything, as `receiver.internal`, or `receiver.internal:25` for a port of its own. */
  readonly hosts: readonly string[]
}

export interface Listening {
  readonly address: string
  readonly port: number
}

export interface AddressRules {
  /** Whether the port may be spoken to at all. */
  readonly takesPort: (target: Target) => boolean
  /** Whether a connection to this address may be made for the target. Anything that is no address: no. */
  readonly takesAddress: (target: Target, address: string) => boolean
}

type Address = ipaddr.IPv4 | ipaddr.IPv6

/**
 * Who may be reached: public addresses, and what the operator allows. Never, whatever is allowed: addresses that stand
 * for no machine, those where clouds keep credentials, and the service itself.
 */
export const addressRules = (
  allowed: AllowList,
  listening: () => Listening | undefined = () => undefined,
): AddressRules => {
  const cidrs = allowed.cidrs.map(cidr)
  const hosts = new Set(allowed.hosts.map((host) => host.toLowerCase().replaceAll(/[[\]]/g, '')))
  const isNamed = ({ host, port }: Target) => hosts.has(host) || hosts.has(`${host}:${port}`)
  return {
    takesPort: ({ host, port }) => port > 0 && (!REFUSED_PORTS.has(port) || hosts.has(`${host}:${port}`)),
    takesAddress: (target, text) => {
      if (isIP(text) === 0) return false
      const address = ipaddr.process(text)
      if (isNever(address) || isOwn(address, target.port, listening())) return false
      return isPublic(address) || isNamed(target) || cidrs.some((cidr) => isWithin(address, cidr))
    },
  }
}

/** Ports of services that a POST can hurt, or that answer to it in words of their own. */
const REFUSED_PORTS = new Set([
  1, 7, 9, 19, 21, 22, 23, 25, 53, 69, 110, 111, 119, 135, 139, 143, 161, 389, 445, 465, 512, 513, 514, 515,
  554, 587, 636, 873, 993, 995, 1433, 1521, 2049, 2375, 2376, 2379, 2380, 3306, 3389, 5432, 5672, 5900, 6000,
  6379, 6443, 6667, 9042, 9092, 10250, 11211, 27017,
])

const isWithin = (address: Address, [network, bits]: [Address, number]): boolean =>
  address.kind() === network.kind() && address.match([network, bits] as [never, number])

const cidr = (text: string): [Address, number] => ipaddr.parseCIDR(text)

/** Of IPv6 only 2000::/3 is given out; what lies outside is nobody's, though no list calls it special. */
const GLOBAL_IPV6 = cidr('2000::/3')

const isPublic = (address: Address): boolean =>
  address.range() === 'unicast' && (address.kind() === 'ipv4' || isWithin(address, GLOBAL_IPV6))

/** No machine's address, and the metadata services of the large clouds, of which one is in public space. */
const NEVER = [
  '0.0.0.0/8',
  '224.0.0.0/4',
  '255.255.255.255/32',
  '169.254.169.254/32',
  '169.254.170.2/32',
  '169.254.170.23/32',
  '100.100.100.200/32',
  '168.63.129.16/32',
  '::/128',
  'ff00::/8',
  'fd00:ec2::254/128',
  'fd00:ec2::23/128',
  'fd20:ce::254/128',
].map(cidr)

/** IPv4 written inside IPv6: at the end (mapped, translated, NAT64), or behind 2002 (6to4). */
const isNever = (address: Address): boolean => {
  if (NEVER.some((never) => isWithin(address, never))) return true
  if (address.kind() === 'ipv4') return false
  const bytes = address.toByteArray()
  const inside = bytes[0] === 0x20 && bytes[1] === 0x02 ? bytes.slice(2, 6) : bytes.slice(12)
  return inside.join('.') === '169.254.169.254'
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
