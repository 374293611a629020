/** Host and port of a webhook's URL. */
export const hostOf = (url: string): string => {
  try {
    const { protocol, hostname, port } = new URL(url)
    return `${hostname}:${port === '' ? (protocol === 'https:' ? 443 : 80) : port}`
  } catch {
    return url
  }
}
