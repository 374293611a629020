import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { Failure } from '../../application/failure.js'

/** Depends on host and port, because cookies ignore the port and a host may have several services. */
const cookieName = (host: string): string =>
  `tallytree_${createHash('sha256').update(host.toLowerCase()).digest('hex').slice(0, 8)}`

const hostOf = ({ host }: IncomingHttpHeaders): string => host ?? ''

/** The session's token in the cookie of a request; undefined without one. */
export const sessionTokenIn = (headers: IncomingHttpHeaders): string | undefined => {
  const prefix = `${cookieName(hostOf(headers))}=`
  const found = (headers.cookie ?? '').split(/; */).find((cookie) => cookie.startsWith(prefix))
  return found === undefined || found.length === prefix.length ? undefined : found.slice(prefix.length)
}

/** Sets the cookie, or removes it if the token is null. */
export const sessionCookie = (
  headers: IncomingHttpHeaders,
  token: string | null,
  maxAgeMs: number,
  publicUrl: string | null,
): Readonly<Record<string, string>> => {
  const isHttps = publicUrl?.startsWith('https:') === true || headers['x-forwarded-proto'] === 'https'
  const secure = isHttps ? '; Secure' : ''
  const maxAge = token === null ? 0 : Math.floor(maxAgeMs / 1000)
  return {
    'Set-Cookie': `${cookieName(hostOf(headers))}=${token ?? ''}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Strict${secure}`,
    'Cache-Control': 'no-store',
  }
}

/** Refuses a request that another site made with the cookie of this one. Browsers set both headers themselves. */
export const requireSameOrigin = (method: string, headers: IncomingHttpHeaders): void => {
  if (method === 'GET' || method === 'HEAD' || isSameOrigin(headers)) return
  throw new Failure(
    'forbidden',
    'A request with a session cookie must come from a page of this service. Programs use an API key.',
  )
}

const isSameOrigin = (headers: IncomingHttpHeaders): boolean => {
  const { origin } = headers
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin'
  if (origin === undefined || !URL.canParse(origin)) return false
  return new URL(origin).host.toLowerCase() === hostOf(headers).toLowerCase()
}
