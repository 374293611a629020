import type { IncomingHttpHeaders } from 'node:http'
import type { Services } from '../../application/services.js'
import type { Access } from '../../application/access/access.js'
import { canAccessTeam } from '../../application/access/rights.js'
import type { Principal } from '../../application/principal.js'
import { CLOCK_SKEW_MS, isOver, type Directory } from '../../domain/access/directory.js'
import { principalOfUser } from '../../domain/access/look-ups.js'
import { arrayOf, nullable, withDefault } from '../../kernel/codec/containers.js'
import { instantOf } from '../../kernel/codec/instant.js'
import { entityOf } from '../../kernel/ids.js'
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
  /** `key` is the id of the API key or session that got the link; links of earlier releases have none. */
  optional: { user: withDefault(string, ''), key: nullable(string) },
})

interface Link {
  readonly may: 'store' | 'store-in-run' | 'read'
  readonly project: string
  readonly of: readonly string[]
  readonly until: number
  readonly user: string
  readonly key?: string | null
}

export type LinkServices = Pick<Services, 'signer' | 'clock' | 'publicUrl'> & {
  readonly access: Pick<Access, 'directory'>
}

/** The address under which a client reaches the service: clients resolve no relative links. */
const baseOf = ({ publicUrl }: Pick<Services, 'publicUrl'>, headers: IncomingHttpHeaders): string => {
  if (publicUrl !== null) return publicUrl
  const forwarded = String(headers['x-forwarded-proto'] ?? '')
    .split(',')[0]!
    .trim()
  return `${forwarded === 'https' ? 'https' : 'http'}://${headers.host ?? 'localhost'}`
}

/**
 * Makes absolute links for one purpose, which open without a key. They are valid for a day, and only as long as the
 * caller's key is.
 */
export const linksFor = (
  services: Omit<LinkServices, 'access'>,
  headers: IncomingHttpHeaders,
  { userId: user, keyId: key }: Pick<Principal, 'userId' | 'keyId'>,
) => {
  const base = baseOf(services, headers)
  const until = Math.floor(services.clock.now().getTime() / 1000) + LIFE_SECONDS
  const made = (content: Omit<Link, 'until' | 'user' | 'key'>): string => {
    const text = Buffer.from(JSON.stringify({ ...content, until, user, key })).toString('base64url')
    return `${base}${CONTENT}/${text}~${services.signer.sign(text)}`
  }
  return {
    store: (project: string, md5: string) => made({ may: 'store', project, of: [md5] }),
    storeInRun: (project: string, run: string, path: string) =>
      made({ may: 'store-in-run', project, of: [run, path] }),
    /** Where a file of a run would be that is not there. */
    toNothing: (project: string, run: string, path: string) =>
      `${base}/files/${[...project.split('/'), run, path].map(encodeURIComponent).join('/')}`,
    read: (project: string, blob: string, name: string) => made({ may: 'read', project, of: [blob, name] }),
  }
}

export type Links = ReturnType<typeof linksFor>

const refused = () =>
  new Failure(
    'forbidden',
    'The link is not valid or has expired, on its own or with the API key that got it. Ask for a new one, as the client does.',
  )

/** What a link allows. */
export const readLink = ({ signer, clock, access }: LinkServices, token: string): Link => {
  const [text = '', signature = ''] = token.split('~')
  if (!signer.verify(text, signature)) throw refused()
  const content = JSON.parse(Buffer.from(text, 'base64url').toString()) as Json
  const now = clock.now()
  if (!link.is(content) || !isInForce(content, now) || !mayStill(access.directory(), content, now))
    throw refused()
  return content
}

/** A link that is valid for longer than a day was made with a wrong clock. */
const isInForce = ({ until }: Link, now: Date): boolean => {
  const left = until - now.getTime() / 1000
  return left >= 0 && left <= LIFE_SECONDS + CLOCK_SKEW_MS / 1000
}

/** Whether the caller who got the link may still use the project with the same key. */
const mayStill = (directory: Directory, { user, key, project }: Link, now: Date): boolean => {
  if (directory.deletedProjects.has(project)) return false
  if (key == null) return true
  const apiKey = directory.keys.get(key)
  if (apiKey === undefined || isOver(apiKey, instantOf(now))) return false
  return canAccessTeam(principalOfUser(directory, user, key), entityOf(project))
}
