import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'
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
  }
}

/**
 * Whether a browser used a host of this service. Another site can give its own name the address of this service (DNS
 * rebinding), but no name that is an address. Without a public URL all names are taken for own ones.
 */
export const isOwnHost = (headers: IncomingHttpHeaders, publicUrl: string | null): boolean => {
  if (publicUrl === null) return true
  const name = hostNameIn(`http://${hostOf(headers)}`)
  return name === hostNameIn(publicUrl) || /^(.+\.)?localhost$/.test(name) || isIP(name) !== 0
}

/** Without the port, which proxies may change. */
const hostNameIn = (url: string): string =>
  URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$|\.$/g, '') : ''

/** Refuses a browser that used a host of another site. */
export const requireOwnHost = (headers: IncomingHttpHeaders, publicUrl: string | null): void => {
  if (isOwnHost(headers, publicUrl)) return
  throw new Failure(
    'forbidden',
    'Sessions work only at the host of TALLYTREE_PUBLIC_URL, at localhost and at IP addresses, and the Host header of this ' +
      'request names another. A proxy must pass the Host header on. Programs use an API key.',
  )
}

/** Refuses a request that another site made with the cookie of this one. Browsers set both headers themselves. */
export const requireSameOrigin = (method: string, headers: IncomingHttpHeaders): void => {
  if (method === 'GET' || method === 'HEAD' || isSameOrigin(headers)) return
  throw new Failure(
    'forbidden',
    'A request with a session cookie must come from a page of this service. Programs use an API key.',
  )
}

/**
 * Refuses a request that a page of another origin made without asking first (CORS preflight), which browsers let it do
 * with a POST. They add Basic credentials that a user entered, as they add cookies, and store the cookies of the answer.
 * A program names no origin.
 */
export const refuseOtherOrigins = (method: string, headers: IncomingHttpHeaders): void => {
  const isByBrowser = headers['sec-fetch-site'] !== undefined || headers.origin !== undefined
  const isByUser = headers['sec-fetch-site'] === 'none'
  if (method === 'GET' || method === 'HEAD' || !isByBrowser || isByUser || isSameOrigin(headers)) return
  throw new Failure(
    'forbidden',
    'A page of another origin made this request. Use the pages of this service, or send an API key as a Bearer token from an origin in TALLYTREE_CORS_ORIGINS.',
  )
}

const isSameOrigin = (headers: IncomingHttpHeaders): boolean => {
  const { origin } = headers
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin'
  if (origin === undefined || !URL.canParse(origin)) return false
  return new URL(origin).host.toLowerCase() === hostOf(headers).toLowerCase()
}
