import * as E from 'fp-ts/lib/Either.js'

/** Where a ClickHouse server is, and as whom it is spoken to. */
export interface ClickHouseAddress {
  /** Scheme, host and port alone. */
  readonly origin: string
  readonly username: string
  readonly password: string
  readonly database: string
}

/** What names a database, or a cluster, without quoting. */
export const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/

const FORM = 'must be the URL of a ClickHouse server, http://user:password@host:8123/database'

/** The parts of `http(s)://user:password@host:8123/database`, or what is wrong with it, which never quotes it. */
export const clickHouseAddress = (text: string): E.Either<string, ClickHouseAddress> => {
  if (!/^https?:\/\//i.test(text)) return E.left(FORM)
  if (!URL.canParse(text)) return E.left(`${FORM}; ${PERCENT}`)
  const url = new URL(text)
  if (url.search !== '' || url.hash !== '')
    return E.left(`must not have query parameters or a fragment; ${PERCENT}`)
  const username = decoded(url.username)
  const password = decoded(url.password)
  if (username === undefined || password === undefined) return E.left(PERCENT)
  const database = url.pathname.replace(/^\/|\/$/g, '') || 'tallytree'
  if (!IDENTIFIER.test(database))
    return E.left('the database name after the host must be letters, digits and underscores')
  return E.right({ origin: url.origin, username: username || 'default', password, database })
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
