import { isIP } from 'node:net'

/** The host and port of a URL. */
export interface Target {
  /** As the URL standard writes it: in lower case, an address in its usual form, without brackets or a final dot. */
  readonly host: string
  readonly port: number
  readonly isSecure: boolean
  /** Whether the host is an address, in any spelling. */
  readonly isLiteral: boolean
}

/** Undefined unless it is an HTTP URL without a user and a password. */
export const targetOf = (text: string): Target | undefined => {
  if (!URL.canParse(text)) return undefined
  const url = new URL(text)
  const isSecure = url.protocol === 'https:'
  if (!isSecure && url.protocol !== 'http:') return undefined
  if (url.username !== '' || url.password !== '') return undefined
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  // got takes this name for the file of a socket.
  if (host === '' || host === 'unix') return undefined
  const usual = isSecure ? 443 : 80
  return { host, port: url.port === '' ? usual : Number(url.port), isSecure, isLiteral: isIP(host) > 0 }
}
