/** Tiers of service that a price may know. */
export const SERVICE_TIERS = ['batch', 'flex', 'priority'] as const
export type ServiceTier = (typeof SERVICE_TIERS)[number]

/** Numbers of prompt tokens above which providers charge other prices, ascending. After a change, read models are filled again. */
export const PROMPT_SIZES = [32_000, 128_000, 200_000, 256_000, 272_000, 512_000] as const

/** What decides the price of a model's usage besides its model. */
export interface UsageVariant {
  /** The largest of `PROMPT_SIZES` that the prompt exceeds; 0 for none. */
  readonly above: number
  readonly tier: ServiceTier | null
  /** Whether the report has more that was not understood than its tier. */
  readonly isUnrecognized: boolean
}

/** The largest size that the prompt of a request exceeds. Of a sum of several requests, their average counts. */
export const sizeOf = ({
  prompt_tokens,
  requests,
}: {
  readonly prompt_tokens: number
  readonly requests: number
}): number => {
  const prompt = prompt_tokens / Math.max(1, requests)
  let above = 0
  for (const size of PROMPT_SIZES) if (prompt > size) above = size
  return above
}

/** In the name of a model both characters are escaped. */
const SEPARATOR = '\u001F'
const ESCAPE = '\u001E'

/** The name of a model with the variant of its usage, by which usage is summed up. */
export const variantKey = (model: string, { above, tier, isUnrecognized }: UsageVariant): string =>
  above === 0 && tier === null
    ? escaped(model)
    : [escaped(model), above, tier ?? '', isUnrecognized ? 'unrecognized' : ''].join(SEPARATOR)

const escaped = (name: string): string =>
  name.replaceAll(ESCAPE, `${ESCAPE}E`).replaceAll(SEPARATOR, `${ESCAPE}F`)

const unescaped = (name: string): string =>
  name.replaceAll(`${ESCAPE}F`, SEPARATOR).replaceAll(`${ESCAPE}E`, ESCAPE)

/** The model and the variant of a key. */
export const partsOf = (key: string): UsageVariant & { readonly model: string } => {
  const [model = '', above = '0', tier = '', more = ''] = key.split(SEPARATOR)
  return {
    model: unescaped(model),
    above: Number(above) || 0,
    tier: SERVICE_TIERS.find((known) => known === tier) ?? null,
    isUnrecognized: more !== '',
  }
}

/** The key of the same model without a variant. */
export const plainKey = (key: string): string => {
  const end = key.indexOf(SEPARATOR)
  return end < 0 ? key : key.slice(0, end)
}

export const modelOf = (key: string): string => unescaped(plainKey(key))
