import { Fragment, type ReactNode } from 'react'

export type Fact = readonly [label: string, value: ReactNode]

/** Labels with their values, one a line. */
export const Facts = ({ facts }: { readonly facts: readonly Fact[] }) => (
  <dl className="facts">
    {facts.map(([label, value]) => (
      <Fragment key={label}>
        <dt>{label}</dt>
        <dd>{value}</dd>
      </Fragment>
    ))}
  </dl>
)
