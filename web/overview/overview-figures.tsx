import type { ReactNode } from 'react'
import { AppLink } from '../kit/app-link.js'
import { cost, duration, exactCost, percent, shortNumber, wholeNumber } from '../kit/format.js'
import { isEqual } from '../traces/filter.js'
import type { Place } from '../kit/place.js'
import type { TimeRange } from './buckets.js'
import { changeText, UNKNOWN } from './change.js'
import { linkTo, type Overview } from './overview-data.js'

type Figures = Overview['figures']

interface FigureSpec {
  readonly label: string
  readonly value: (figures: Figures) => number | null
  readonly text: (value: number, figures: Figures) => string
  readonly exact?: (value: number) => string
  readonly href: (place: Place, range: TimeRange, userField: string) => string
  /** A difference in points, for what is a percentage itself. */
  readonly isPercentage?: true
}

const sharesOf = ({ traces, errors }: Figures): number | null =>
  traces === 0 ? null : (100 * errors) / traces
const milliseconds = (value: number): string => duration(value * 1000)

const LATENCY: readonly FigureSpec[] = [
  {
    label: 'p50',
    value: ({ p50_ms }) => p50_ms,
    text: milliseconds,
    href: (place, range) => linkTo(place, range, [], { sort: 'summary.weave.latency_ms' }),
  },
  {
    label: 'p95',
    value: ({ p95_ms }) => p95_ms,
    text: milliseconds,
    href: (place, range) => linkTo(place, range, [], { sort: '-summary.weave.latency_ms' }),
  },
]

const FIGURES: readonly (readonly FigureSpec[])[] = [
  [
    {
      label: 'Traces',
      value: ({ traces }) => traces,
      text: wholeNumber,
      href: (place, range) => linkTo(place, range),
    },
  ],
  [
    {
      label: 'Errors',
      value: sharesOf,
      text: percent,
      isPercentage: true,
      href: (place, range) => linkTo(place, range, [isEqual('summary.weave.status', 'error')]),
    },
  ],
  LATENCY,
  [
    {
      label: 'Cost',
      value: ({ cost: dollars }) => dollars,
      text: (dollars, { unpriced }) => cost(dollars, unpriced),
      exact: (dollars) => `$${exactCost(dollars)}`,
      href: (place, range) => linkTo(place, range, [], { sort: '-usage.total_cost' }),
    },
  ],
  [
    {
      label: 'Tokens',
      value: ({ tokens }) => tokens,
      text: (tokens) => (tokens < 1e6 ? wholeNumber(tokens) : shortNumber(tokens)),
      exact: wholeNumber,
      href: (place, range) => linkTo(place, range, [], { sort: '-usage.total_tokens' }),
    },
  ],
  [
    {
      label: 'End users',
      value: ({ users }) => users,
      text: wholeNumber,
      href: (place, range, field) =>
        linkTo(place, range, [{ $not: [{ $eq: [{ $getField: field }, { $literal: null }] }] }]),
    },
  ],
]

/** The six figures of a range with the change to the range before; their places have the final size from the start. */
export const OverviewFigures = ({
  place,
  shown,
}: {
  readonly place: Place
  readonly shown: (Overview & { readonly range: TimeRange }) | undefined
}) => (
  <dl className="figures">
    {FIGURES.map((group) => (
      <div key={group[0]!.label}>
        <dt>{group === LATENCY ? 'Duration p50 / p95' : labelOf(group[0]!.label, shown)}</dt>
        <dd>
          {group.map((one, n) => (
            <span key={one.label}>
              {n > 0 && <span className="secondary"> / </span>}
              {shown === undefined ? '…' : <Value spec={one} place={place} shown={shown} />}
            </span>
          ))}
        </dd>
        <dd className="secondary">
          {shown !== undefined && <Change spec={group.at(-1)!} shown={shown} isNamed={group === LATENCY} />}
        </dd>
      </div>
    ))}
  </dl>
)

const labelOf = (label: string, shown: Overview | undefined): string =>
  label === 'End users' && shown?.user_field === 'wb_user_id' ? 'Users' : label

interface ShownProps {
  readonly spec: FigureSpec
  readonly shown: Overview & { readonly range: TimeRange }
}

const Value = ({ spec, place, shown }: ShownProps & { readonly place: Place }): ReactNode => {
  const { figures, range, user_field } = shown
  const value = spec.value(figures)
  if (value === null) return spec.label === 'Cost' ? 'no price' : '—'
  return (
    <AppLink href={spec.href(place, range, user_field)} title={spec.exact?.(value)}>
      {spec.text(value, figures)}
    </AppLink>
  )
}

const Change = ({ spec, shown, isNamed }: ShownProps & { readonly isNamed: boolean }) => {
  const [now, before] = [spec.value(shown.figures), spec.value(shown.previous)]
  const text = changeText(now, before, spec.isPercentage)
  return (
    <span title={before === null ? undefined : `before: ${spec.text(before, shown.previous)}`}>
      {isNamed && `${spec.label} `}
      {text === UNKNOWN ? `change ${UNKNOWN}` : text}
    </span>
  )
}
