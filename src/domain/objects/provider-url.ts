const HOSTS_OF_THE_MACHINE = /(?:^|\.)localhost(?:\.localdomain)?$|^ip6-(?:localhost|loopback)$/
const METADATA_HOSTS = /(?:^|\.)metadata\.(?:google\.internal|goog|internal|azure\.com)$/

/** What is wrong with the base URL of a model provider, which must be public. Names are not resolved here. */
export const providerUrlProblem = (text: string): string | undefined => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:\/\//i.test(text)) return 'base_url should be an http or https URL'
  if (text.includes('?') || url.hash !== '') return 'base_url should have no query and no fragment'
  const host = url.hostname.replace(/\.$/, '')
  const isPublic = /^[\d.]+$/.test(host)
    ? isPublicIpv4(host)
    : host.startsWith('[')
      ? isPublicIpv6(host)
      : !HOSTS_OF_THE_MACHINE.test(host) && !METADATA_HOSTS.test(host)
  return isPublic ? undefined : 'the host of base_url should be public'
}

/** First addresses and prefix lengths of the networks that are not public. */
const PRIVATE_NETWORKS = [
  [0x00000000, 8],
  [0x0a000000, 8],
  [0x64400000, 10],
  [0x7f000000, 8],
  [0xa9fe0000, 16],
  [0xac100000, 12],
  [0xc0000000, 24],
  [0xc0000200, 24],
  [0xc0a80000, 16],
  [0xc6120000, 15],
  [0xc6336400, 24],
  [0xcb007100, 24],
  [0xe0000000, 3],
] as const

/** The URL parser has converted other notations of addresses to four decimal numbers. */
const isPublicIpv4 = (host: string): boolean => {
  const address = host.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
  return !PRIVATE_NETWORKS.some(([network, bits]) => {
    const size = 2 ** (32 - bits)
    return Math.floor(address / size) === network / size
  })
}

/** Only 2000::/3 is assigned; documentation, tunnels and special uses begin with 2001:0 to 2001:db8 and 2002. */
const isPublicIpv6 = (host: string): boolean =>
  /^\[[23][\da-f]{3}:/.test(host) &&
  !/^\[(?:2001:(?::|[\da-f]{1,2}:|1[\da-f]{2}:|db8:)|2002:|3fff:)/.test(host)
