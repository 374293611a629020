import * as E from 'fp-ts/lib/Either.js'

/** Address and credentials of a ClickHouse server. */
export interface ClickHouseAddress {
  /** Scheme, host and port only: of the first host. */
  readonly origin: string
  /** Of all hosts, in the order in which they are tried. */
  readonly origins: readonly string[]
  readonly username: string
  readonly password: string
  readonly database: string
}

/** A database or cluster name that needs no quoting. */
export const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/

const FORM = 'must be the URL of a ClickHouse server, http://user:password@host:8123/database'

/** Parses `http(s)://user:password@host:8123,host:8123/database`. The error never quotes it, since it holds a password. */
export const clickHouseAddress = (text: string): E.Either<string, ClickHouseAddress> => {
  if (!/^https?:\/\//i.test(text)) return E.left(FORM)
  const [, start = '', hosts = '', path = ''] = /^(https?:\/\/(?:[^/]*@)?)([^/?#]*)(.*)$/is.exec(text) ?? []
  const texts = hosts.split(',').map((host) => start + host + path)
  if (!texts.every((each) => URL.canParse(each))) return E.left(`${FORM}; ${PERCENT}`)
  const urls = texts.map((each) => new URL(each))
  const url = urls[0]!
  if (url.search !== '' || url.hash !== '')
    return E.left(`must not have query parameters or a fragment; ${PERCENT}`)
  const username = decoded(url.username)
  const password = decoded(url.password)
  if (username === undefined || password === undefined) return E.left(PERCENT)
  const database = url.pathname.replace(/^\/|\/$/g, '') || 'tallytree'
  if (!IDENTIFIER.test(database))
    return E.left('the database name after the host must be letters, digits and underscores')
  if (/^(system|information_schema)$/i.test(database))
    return E.left(
      `the database "${database}" belongs to ClickHouse itself: name another one, such as tallytree`,
    )
  return E.right({
    origin: url.origin,
    origins: urls.map(({ origin }) => origin),
    username: username || 'default',
    password,
    database,
  })
}

const PERCENT =
  'special characters in the user or the password must be percent-encoded: "/" as %2F, "%" as %25'

const decoded = (part: string): string | undefined => {
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}
