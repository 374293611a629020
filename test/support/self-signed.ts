import { generateKeyPairSync, sign } from 'node:crypto'

export interface Certified {
  /** PEM. */
  readonly key: string
  readonly cert: string
}

/** A key and a certificate for 127.0.0.1 that is its own authority, for an hour from now. */
export const selfSigned = (): Certified => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const body = sequence(
    tagged(0xa0, integer(2)),
    integer(1),
    ECDSA_WITH_SHA256,
    NAME,
    sequence(time(Date.now() - HOUR), time(Date.now() + HOUR)),
    NAME,
    publicKey.export({ format: 'der', type: 'spki' }),
    tagged(
      0xa3,
      sequence(sequence(SUBJECT_ALT_NAME, octets(sequence(tagged(0x87, Buffer.from([127, 0, 0, 1])))))),
    ),
  )
  const signature = Buffer.concat([Buffer.from([0]), sign('sha256', body, privateKey)])
  const der = sequence(body, ECDSA_WITH_SHA256, tagged(0x03, signature))
  const lines = der.toString('base64').match(/.{1,64}/g)!
  return {
    key: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    cert: ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n'),
  }
}

const HOUR = 3_600_000

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
/** `260101120000Z` */
const time = (ms: number): Buffer =>
  tagged(
    0x17,
    Buffer.from(
      `${new Date(ms)
        .toISOString()
        .replaceAll(/\..*|\D/g, '')
        .slice(2)}Z`,
    ),
  )

const ECDSA_WITH_SHA256 = sequence(identifier('2a8648ce3d040302'))
const SUBJECT_ALT_NAME = identifier('551d11')
const COMMON_NAME = identifier('550403')
const NAME = sequence(tagged(0x31, sequence(COMMON_NAME, tagged(0x0c, Buffer.from('localhost')))))
