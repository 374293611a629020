import { EXTRA_UNITS, type ExtraUnit } from './units.js'

/** Tiers of service that a price may know. */
export const SERVICE_TIERS = ['batch', 'flex', 'priority', 'fast'] as const
export type ServiceTier = (typeof SERVICE_TIERS)[number]

/** Numbers of prompt tokens above which providers charge other prices, ascending. After a change, read models are filled again. */
export const PROMPT_SIZES = [32_000, 128_000, 200_000, 256_000, 272_000, 512_000] as const

/** Figures that only some prices charge apart. */
export type Extra = 'prompt_audio_tokens' | 'completion_audio_tokens' | ExtraUnit
export const EXTRAS: readonly Extra[] = ['prompt_audio_tokens', 'completion_audio_tokens', ...EXTRA_UNITS]

/** What decides the price of a model's usage besides its model. */
export interface UsageVariant {
  /** The largest of `PROMPT_SIZES` that the prompt exceeds; 0 for none. */
  readonly above: number
  readonly tier: ServiceTier | null
  readonly extras: readonly Extra[]
  /** Whether the report has more that was not understood than its tier and extras. */
  readonly isUnrecognized: boolean
}

/** The largest size that the prompt of a request exceeds. Of a sum of several requests, their average counts. */
export const sizeOf = ({
  prompt_tokens,
  requests = 1,
}: {
  readonly prompt_tokens: number
  readonly requests?: number
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
export const variantKey = (model: string, { above, tier, extras, isUnrecognized }: UsageVariant): string =>
  above === 0 && tier === null && extras.length === 0
    ? plainKeyOf(model)
    : [
        plainKeyOf(model),
        above,
        tier ?? '',
        [...extras, ...(isUnrecognized ? [UNRECOGNIZED] : [])].join(),
      ].join(SEPARATOR)

const UNRECOGNIZED = 'unrecognized'

/** The key of a model without a variant. */
export const plainKeyOf = (name: string): string =>
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
    extras: EXTRAS.filter((extra) => more.includes(extra)),
    isUnrecognized: more.includes(UNRECOGNIZED),
  }
}

/** The key of the same model without a variant. */
export const plainKey = (key: string): string => {
  const end = key.indexOf(SEPARATOR)
  return end < 0 ? key : key.slice(0, end)
}

export const modelOf = (key: string): string => unescaped(plainKey(key))
