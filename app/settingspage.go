package app

import (
	"fmt"

	settingspage "teamdata/admin/settings"
	"teamdata/internal/hint"
	"teamdata/internal/smallfile"
)

// checkSettingsPage checks the flags about the settings page, but for the logo's file.
func (s *Settings) checkSettingsPage() error {
	for _, origin := range s.FrameAncestors {
		if err := settingspage.CheckAncestor(origin); err != nil {
			return fmt.Errorf("--frame-ancestors: %w", err)
		}
	}
	if s.BrandName != "" {
		if err := settingspage.CheckBrandName(s.BrandName); err != nil {
			return fmt.Errorf("--brand-name: %w", err)
		}
	}
	if s.BrandColour != "" {
		if err := settingspage.CheckBrandColour(s.BrandColour); err != nil {
			return fmt.Errorf("--brand-colour: %w", err)
		}
	}
	return nil
}

// loadBrand reads the brand of the settings page.
func (s *Settings) loadBrand() (brand settingspage.Brand, err error) {
	brand = settingspage.Brand{Name: s.BrandName, Colour: s.BrandColour}
	path := s.BrandLogo
	if path == "" {
		return brand, nil
	}
	logo, err := smallfile.Read(path)
	if err != nil {
		return brand, SettingError{hint.With(fmt.Errorf("--brand-logo: %w", err), "give the path of an SVG or PNG image")}
	}
	if err := settingspage.CheckBrandLogo(logo); err != nil {
		return brand, SettingError{fmt.Errorf("--brand-logo: %s %w", path, err)}
	}
	brand.Logo = logo
	return brand, nil
}
