import * as t from 'io-ts'
import ipaddr from 'ipaddr.js'
import { Codec, refuse } from '../kernel/codec/codec.js'

const listOf = (name: string, isOne: (word: string) => boolean, says: string): Codec<readonly string[]> =>
  new Codec<readonly string[]>(
    name,
    (u): u is readonly string[] => Array.isArray(u),
    (u, c) => {
      const words = String(u)
        .split(',')
        .map((word) => word.trim())
      return words.every(isOne) ? t.success(words) : refuse(u, c, 'value_error', says)
    },
    { type: 'string' },
  )

const isNetwork = (word: string): boolean =>
  ipaddr.IPv4.isValidCIDRFourPartDecimal(word) || ipaddr.IPv6.isValidCIDR(word)

/** A comma-separated list of networks. */
export const networks = listOf(
  'networks',
  isNetwork,
  'must be a comma-separated list of networks such as 10.0.0.0/8 or fd00::/8',
)

const HOST = /^(?:[\w.-]{1,253}|\[[\da-f:.]+\])(?::(\d{1,5}))?$/i
const MOST_PORT = 65_535

const isHost = (word: string): boolean => {
  const found = HOST.exec(word)
  const port = Number(found?.[1] ?? 1)
  return found !== null && port >= 1 && port <= MOST_PORT
}

/** A comma-separated list of hosts, each with an optional port. */
export const hosts = listOf(
  'hosts',
  isHost,
  'must be a comma-separated list of hosts such as receiver.internal or receiver.internal:8443',
)
