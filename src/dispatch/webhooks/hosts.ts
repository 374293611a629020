const MOST_REMEMBERED = 10_000

/** Host and port, as every URL that a webhook may have names one; remembered, as it is asked for all the time. */
export const rememberedHosts = (): ((url: string) => string) => {
  const known = new Map<string, string>()
  return (url) => {
    const found = known.get(url) ?? hostOf(url)
    if (known.size >= MOST_REMEMBERED) known.clear()
    known.set(url, found)
    return found
  }
}

const hostOf = (url: string): string => {
  try {
    const { protocol, hostname, port } = new URL(url)
    return `${hostname}:${port === '' ? (protocol === 'https:' ? 443 : 80) : port}`
  } catch {
    return url
  }
}
