/** The figure that a condition compared, as template variables. */
export interface Figure {
  readonly metric_name: string
  /** The compared value, aggregate, change or z-score. */
  readonly metric_value: number
  readonly threshold: number
}

/** The first unmet condition. */
export type Unmet =
  | {
      readonly why:
        /** The automation did not exist yet. */
        | 'not_there'
        | 'deleted'
        | 'disabled'
        | 'event_type'
        | 'scope'
        | 'alias_pattern'
        | 'tag_pattern'
        | 'run_user'
        | 'run_name_pattern'
        | 'state'
        | 'outcome'
        | 'evaluation_pattern'
        | 'scorer'
        /** There is no number or boolean at the path. */
        | 'score_absent'
        | 'not_failed'
        | 'query'
        | 'metric_absent'
        /** The call's end does not report it, or its start is not known yet. */
        | 'measure_unknown'
        /** The call reports no usage, or only tokens of models without a price. */
        | 'price_unknown'
        /** The relative change from 0 is undefined. */
        | 'prior_is_zero'
        /** All prior values are equal, so the z-score is undefined. */
        | 'no_deviation'
    }
  | { readonly why: 'window_not_full'; readonly has: number; readonly needs: number }
  | { readonly why: 'threshold'; readonly value: number; readonly threshold: number }
  /** Matched for the same run before; it can fire again from `until`. */
  | { readonly why: 'cooldown'; readonly until: Date }

export type Verdict =
  | { readonly matched: true; readonly figure: Figure | null }
  | { readonly matched: false; readonly unmet: Unmet }

export const matched = (figure: Figure | null = null): Verdict => ({ matched: true, figure })

export const unmet = (reason: Unmet): Verdict => ({ matched: false, unmet: reason })
