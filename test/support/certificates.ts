import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto'
import { isIP } from 'node:net'

export interface Certified {
  /** PEM. */
  readonly key: string
  readonly cert: string
}

/** Whom a certificate is for, and for how long. */
export interface Holder {
  /** Names, and addresses of IPv4. */
  readonly hosts: readonly string[]
  readonly from?: Date
  readonly until?: Date
}

export interface Authority {
  /** Its own certificate, PEM. */
  readonly cert: string
  readonly certifies: (holder: Holder) => Certified
}

const HOUR = 3_600_000

/** An authority that nobody trusts unless told to. */
export const certificateAuthority = (name = 'Authority of the tests'): Authority => {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const self = { name, key: keys.privateKey }
  return {
    cert: certificate(self, name, keys.publicKey, { hosts: [] }, true),
    certifies: (holder) => {
      const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
      return {
        key: pemOf(privateKey),
        cert: certificate(self, holder.hosts[0] ?? 'nobody', publicKey, holder, false),
      }
    },
  }
}

/** A key and a certificate that is its own authority. */
export const certifyingItself = (holder: Holder): Certified => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const name = holder.hosts[0] ?? 'nobody'
  return {
    key: pemOf(privateKey),
    cert: certificate({ name, key: privateKey }, name, publicKey, holder, false),
  }
}

const pemOf = (key: KeyObject): string => key.export({ format: 'pem', type: 'pkcs8' }).toString()

const certificate = (
  issuer: { readonly name: string; readonly key: KeyObject },
  subject: string,
  publicKey: KeyObject,
  { hosts, from = new Date(Date.now() - HOUR), until = new Date(Date.now() + HOUR) }: Holder,
  isAuthority: boolean,
): string => {
  serial += 1
  const body = sequence(
    tagged(0xa0, integer(2)),
    integer(serial),
    ECDSA_WITH_SHA256,
    named(issuer.name),
    sequence(time(from), time(until)),
    named(subject),
    publicKey.export({ format: 'der', type: 'spki' }),
    tagged(0xa3, sequence(isAuthority ? AUTHORITY : hostsOf(hosts))),
  )
  const signature = Buffer.concat([Buffer.from([0]), sign('sha256', body, issuer.key)])
  const der = sequence(body, ECDSA_WITH_SHA256, tagged(0x03, signature))
  const lines = der.toString('base64').match(/.{1,64}/g)!
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n')
}

let serial = 0

/** DER: a tag, the length of the content, the content. */
const tagged = (tag: number, content: Buffer): Buffer => {
  const { length } = content
  const head = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...head]), content])
}

const sequence = (...parts: readonly Buffer[]): Buffer => tagged(0x30, Buffer.concat(parts))
const octets = (content: Buffer): Buffer => tagged(0x04, content)
const integer = (small: number): Buffer => tagged(0x02, Buffer.from([small]))
const identifier = (hex: string): Buffer => tagged(0x06, Buffer.from(hex, 'hex'))
/** `20260101120000Z` */
const time = (at: Date): Buffer =>
  tagged(0x18, Buffer.from(`${at.toISOString().replaceAll(/\..*|\D/g, '')}Z`))

const ECDSA_WITH_SHA256 = sequence(identifier('2a8648ce3d040302'))
const COMMON_NAME = identifier('550403')
const named = (name: string): Buffer =>
  sequence(tagged(0x31, sequence(COMMON_NAME, tagged(0x0c, Buffer.from(name)))))

const TRUE = tagged(0x01, Buffer.from([0xff]))
/** The extension that lets a certificate sign others. */
const AUTHORITY = sequence(identifier('551d13'), TRUE, octets(sequence(TRUE)))
/** The extension that names the hosts. */
const hostsOf = (hosts: readonly string[]): Buffer =>
  sequence(
    identifier('551d11'),
    octets(
      sequence(
        ...hosts.map((host) =>
          isIP(host) === 4
            ? tagged(0x87, Buffer.from(host.split('.').map(Number)))
            : tagged(0x82, Buffer.from(host)),
        ),
      ),
    ),
  )
