/**
 * The API key in an `Authorization` header: the password of Basic authentication (RFC 7617, any user name or none) or a
 * Bearer token. Undefined for anything else. Never throws, because an error could quote the header.
 */
export const keyIn = (authorization: string | undefined): string | undefined => {
  if (typeof authorization !== 'string' || authorization.length > MAX_HEADER) return undefined
  const [, scheme, credentials] = FORM.exec(authorization) ?? []
  if (scheme === undefined || credentials === undefined) return undefined
  switch (scheme.toLowerCase()) {
    case 'bearer':
      return credentials
    case 'basic':
      return passwordIn(credentials)
    default:
      return undefined
  }
}

const MAX_HEADER = 4096

const FORM = /^ *([A-Za-z]+) +([^ ]+) *$/

const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/

const passwordIn = (credentials: string): string | undefined => {
  if (!BASE64.test(credentials)) return undefined
  const pair = Buffer.from(credentials, 'base64').toString('utf8')
  const password = pair.slice(pair.indexOf(':') + 1)
  return password === '' ? undefined : password
}
