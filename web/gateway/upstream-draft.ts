import type { Schemas } from '../kit/api.js'

type Upstream = Schemas['Upstream']
type NewUpstream = Schemas['NewUpstream']

interface ModelDraft {
  readonly id: string
  readonly upstream_id: string
  /** Dollars for a million tokens, '' for no price. */
  readonly input: string
  readonly output: string
  /** What the form does not show. */
  readonly rest: Omit<NewUpstream['models'][number], 'id' | 'upstream_id'>
}

/** The fields of the form as they are typed. */
export interface UpstreamDraft {
  readonly name: string
  readonly base_url: string
  readonly secret: string
  readonly weight: string
  readonly enabled: boolean
  readonly models: readonly ModelDraft[]
}

export const EMPTY_MODEL: ModelDraft = { id: '', upstream_id: '', input: '', output: '', rest: {} }

export const EMPTY_UPSTREAM: UpstreamDraft = {
  name: '',
  base_url: '',
  secret: '',
  weight: '1',
  enabled: true,
  models: [EMPTY_MODEL],
}

/** Moves the point of a decimal without rounding: `0.0000025` is `2.5` with 6 places. */
export const shifted = (decimal: string, places: number): string => {
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d*)\.?(\d*)$/.exec(decimal.trim()) ?? []
  if (whole + fraction === '') return decimal
  const digits = (whole + fraction).padStart(whole.length + fraction.length + Math.max(0, -places), '0')
  const before = digits.length - fraction.length + places
  const padded = digits.padEnd(before, '0')
  const after = padded.slice(before).replace(/0+$/, '')
  return `${sign}${padded.slice(0, before).replace(/^0+(?=\d)/, '') || '0'}${after === '' ? '' : `.${after}`}`
}

export const draftOfUpstream = (upstream: Upstream): UpstreamDraft => ({
  name: upstream.name,
  base_url: upstream.base_url,
  secret: upstream.secret ?? '',
  weight: String(upstream.weight ?? 1),
  enabled: upstream.enabled ?? true,
  models: upstream.models.map(({ id, upstream_id, ...rest }) => ({
    id,
    upstream_id,
    input: rest.price ? shifted(rest.price.prompt_token_cost, 6) : '',
    output: rest.price ? shifted(rest.price.completion_token_cost, 6) : '',
    rest,
  })),
})

const modelOf = ({ id, upstream_id, input, output, rest }: ModelDraft): NewUpstream['models'][number] => {
  const price =
    input.trim() + output.trim() === ''
      ? null
      : {
          ...rest.price,
          prompt_token_cost: shifted(input.trim() || '0', -6),
          completion_token_cost: shifted(output.trim() || '0', -6),
        }
  return { ...rest, id: id.trim(), upstream_id: upstream_id.trim() || id.trim(), price }
}

/** What the form shows; a change leaves the other options as they are. */
export const bodyOfUpstream = (draft: UpstreamDraft) => ({
  name: draft.name.trim(),
  base_url: draft.base_url.trim(),
  secret: draft.secret || null,
  weight: /^\d+$/.test(draft.weight.trim()) ? Number(draft.weight) : (draft.weight as unknown as number),
  enabled: draft.enabled,
  models: draft.models.map(modelOf),
})
