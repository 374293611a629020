import type { IncomingHttpHeaders } from 'node:http'
import type { Services } from '../../application/services.js'
import { arrayOf, withDefault } from '../../kernel/codec/containers.js'
import { int64, oneOf, string } from '../../kernel/codec/leaves.js'
import { closed } from '../../kernel/codec/struct.js'
import type { Json } from '../../kernel/json/json.js'
import { Failure } from '../../application/failure.js'

export const CONTENT = '/api/content'

const LIFE_SECONDS = 24 * 3600

const link = closed('Link', {
  required: {
    /** To store content by its MD5, to store a file of a run, or to read a blob under a file name. */
    may: oneOf('store', 'store-in-run', 'read'),
    project: string,
    /** The MD5 in hexadecimal; the run and the path; the SHA-256 of the blob and the file name. */
    of: arrayOf(string, 1),
    /** Seconds since 1970. */
    until: int64,
  },
  optional: { user: withDefault(string, '') },
})

interface Link {
  readonly may: 'store' | 'store-in-run' | 'read'
  readonly project: string
  readonly of: readonly string[]
  readonly until: number
  readonly user: string
}

export type LinkServices = Pick<Services, 'signer' | 'clock' | 'publicUrl'>

/** The address under which a client reaches the service: clients resolve no relative links. */
const baseOf = ({ publicUrl }: Pick<Services, 'publicUrl'>, headers: IncomingHttpHeaders): string => {
  if (publicUrl !== null) return publicUrl
  const forwarded = String(headers['x-forwarded-proto'] ?? '')
    .split(',')[0]!
    .trim()
  return `${forwarded === 'https' ? 'https' : 'http'}://${headers.host ?? 'localhost'}`
}

/** Makes absolute links that open without a key, for a day and for one purpose. */
export const linksFor = (services: LinkServices, headers: IncomingHttpHeaders, user: string) => {
  const base = baseOf(services, headers)
  const until = Math.floor(services.clock.now().getTime() / 1000) + LIFE_SECONDS
  const made = (content: Omit<Link, 'until' | 'user'>): string => {
    const text = Buffer.from(JSON.stringify({ ...content, until, user })).toString('base64url')
    return `${base}${CONTENT}/${text}~${services.signer.sign(text)}`
  }
  return {
    store: (project: string, md5: string) => made({ may: 'store', project, of: [md5] }),
    storeInRun: (project: string, run: string, path: string) =>
      made({ may: 'store-in-run', project, of: [run, path] }),
    read: (project: string, blob: string, name: string) => made({ may: 'read', project, of: [blob, name] }),
  }
}

export type Links = ReturnType<typeof linksFor>

const refused = () =>
  new Failure('forbidden', 'The link is not valid or has expired. Ask for a new one, as the client does.')

/** What a link allows. */
export const readLink = ({ signer, clock }: LinkServices, token: string): Link => {
  const [text = '', signature = ''] = token.split('~')
  if (!signer.verify(text, signature)) throw refused()
  const content = JSON.parse(Buffer.from(text, 'base64url').toString()) as Json
  if (!link.is(content) || content.until * 1000 < clock.now().getTime()) throw refused()
  return content
}
