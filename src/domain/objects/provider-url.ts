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

const numberOf = (address: string): number =>
  address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)

const OTHER_NETWORKS = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.0.2.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24'],
  ...['203.0.113.0/24', '224.0.0.0/3'],
].map((cidr) => {
  const [network, bits] = cidr.split('/') as [string, string]
  return { first: numberOf(network), size: 2 ** (32 - Number(bits)) }
})

/** The URL parser has converted other notations of addresses to four decimal numbers. */
const isPublicIpv4 = (host: string): boolean => {
  const address = numberOf(host)
  return !OTHER_NETWORKS.some(({ first, size }) => address >= first && address < first + size)
}

/** Only 2000::/3 is assigned; within it, 2001::/23, 2001:db8::/32, 2002::/16 and 3fff::/20 have special uses. */
const isPublicIpv6 = (host: string): boolean =>
  /^\[[23][\da-f]{3}:/.test(host) &&
  !/^\[(?:2001:(?::|[\da-f]{1,2}:|1[\da-f]{2}:|db8:)|2002:|3fff:)/.test(host)
