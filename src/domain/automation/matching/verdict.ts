/** The figure that a condition was about, as templates may name it. */
export interface Figure {
  readonly metric_name: string
  /** The value, aggregate, change or z-score that was compared. */
  readonly metric_value: number
  readonly threshold: number
}

/** The first condition that an event does not meet. */
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
        | 'not_failed'
        | 'metric_absent'
        /** The call's end does not tell, or its start is not known yet. */
        | 'measure_unknown'
        /** The cost of a call none of whose models has a price. */
        | 'price_unknown'
        /** A change relative to nothing. */
        | 'prior_is_zero'
        /** All values before are equal: no deviation can be told from them. */
        | 'no_deviation'
    }
  | { readonly why: 'window_not_full'; readonly has: number; readonly needs: number }
  | { readonly why: 'threshold'; readonly value: number; readonly threshold: number }
  /** It matched for the same run before; from `until` on it may again. */
  | { readonly why: 'cooldown'; readonly until: Date }

export type Verdict =
  | { readonly matched: true; readonly figure: Figure | null }
  | { readonly matched: false; readonly unmet: Unmet }

export const matched = (figure: Figure | null = null): Verdict => ({ matched: true, figure })

export const unmet = (reason: Unmet): Verdict => ({ matched: false, unmet: reason })
